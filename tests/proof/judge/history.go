// Reading: one JSON object a line, one operation each. What cannot be read is an error, never skipped.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// An operation on one account as its client saw it. A key is an Idempotency-Key; an answer is a hash of all its bytes.
type operation struct {
	Account     string `json:"account"`
	Client      int    `json:"client"`
	Kind        string `json:"kind"`
	Call        int64  `json:"call"`
	Return      int64  `json:"return"` // 0: nobody knows, the outcome is unknown
	Key         string `json:"key"`
	Fingerprint string `json:"fingerprint"`
	API         int64  `json:"api"`
	Lead        int64  `json:"lead"`
	Of          int64  `json:"of"` // the ledger row that a refund gives back
	Outcome     string `json:"outcome"`
	BalanceAPI  *int64 `json:"balance_api"`
	BalanceLead *int64 `json:"balance_lead"`
	Seq         int64  `json:"seq"` // 0: the answer did not say
	Answer      string `json:"answer"`
	Request     string `json:"request"` // its id in the ledger: for the SQL, not judged here

	// Places in the state of the model, set before the check.
	keySlot, variant, refundSlot int
	uses                         []use
	of                           *operation
	redundant                    bool
}

var outcomes = map[string]map[string]bool{
	"grant":  {"granted": true, "unknown": true},
	"charge": {"charged": true, "refused": true, "replayed": true, "mismatch": true, "unknown": true},
	"refund": {"refunded": true, "refused": true, "unknown": true},
	"read":   {"read": true, "unknown": true},
}

func (op *operation) check() error {
	switch {
	case op.Account == "":
		return fmt.Errorf("no account")
	case !outcomes[op.Kind][op.Outcome]:
		return fmt.Errorf("a %q does not end as %q", op.Kind, op.Outcome)
	case op.Outcome == "unknown" && op.Return != 0:
		return fmt.Errorf("an unknown outcome has no return")
	case op.Outcome != "unknown" && (op.Call <= 0 || op.Return < op.Call):
		return fmt.Errorf("it returns at %d, before its call at %d", op.Return, op.Call)
	case (op.Outcome == "replayed" || op.Outcome == "mismatch") && op.Key == "":
		return fmt.Errorf("%s without a key", op.Outcome)
	case op.Outcome == "read" && (op.BalanceAPI == nil || op.BalanceLead == nil):
		return fmt.Errorf("a read without balances")
	}
	if op.Outcome == "unknown" {
		op.Return = math.MaxInt64
	}
	return nil
}

// Operations by account, in the order of the file.
func readHistory(from io.Reader) (map[string][]*operation, error) {
	accounts := map[string][]*operation{}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for number := 1; lines.Scan(); number++ {
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.DisallowUnknownFields()
		op := &operation{}
		if err := decoder.Decode(op); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if decoder.More() {
			return nil, fmt.Errorf("line %d: more than one object", number)
		}
		if err := op.check(); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		accounts[op.Account] = append(accounts[op.Account], op)
	}
	return accounts, lines.Err()
}
