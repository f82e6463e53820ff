// What an account is: two balances, the number of its last ledger row, what keys were used for, what was refunded.
//
// An operation whose outcome is unknown may have happened at any time after its call, or not at all. "Not at all" needs
// no case of its own: placed after everything else, it changes nothing that anybody saw.
package main

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/anishathalye/porcupine"
)

// Strings, so that states are copied and compared as values. A byte for each key that several operations share: 0, or
// one more than the number of the (fingerprint, price) that it was charged with. Eight for each refunded charge.
type state struct {
	api, lead, seq int64
	keys, refunded string
}

// What a key was used for.
type use struct {
	fingerprint string
	api, lead   int64
}

var seed = maphash.MakeSeed()

// The sequential rules, for the operations of one account that `prepare` has been through.
func model(keys, refunds int, spent func() bool) porcupine.Model {
	return porcupine.Model{
		Init: func() any {
			return state{keys: string(make([]byte, keys)), refunded: string(make([]byte, 8*refunds))}
		},
		Step: func(before, input, _ any) (bool, any) {
			if spent() { // out of memory: nothing fits any more, the search ends at once, and main says why
				return false, before
			}
			return step(before.(state), input.(*operation))
		},
		Hash: func(of any) uint64 { return maphash.Comparable(seed, of.(state)) },
	}
}

func step(before state, op *operation) (bool, state) {
	switch op.Kind {
	case "grant":
		return settled(before, before.moved(op.API, op.Lead), op)
	case "read":
		return op.Outcome == "unknown" || (before.shows(op) && (op.Seq == 0 || op.Seq == before.seq)), before
	case "refund":
		return stepRefund(before, op)
	default:
		return stepCharge(before, op)
	}
}

func stepCharge(before state, op *operation) (bool, state) {
	used := 0
	if op.keySlot >= 0 {
		used = int(before.keys[op.keySlot])
	}
	affordable := before.api >= op.API && before.lead >= op.Lead
	switch op.Outcome {
	case "replayed":
		// It shows the balances of now, beside the answer of then.
		return used == op.variant+1 && before.shows(op), before
	case "mismatch":
		return used != 0 && op.uses[used-1].fingerprint != op.Fingerprint, before
	case "refused":
		return used == 0 && !affordable && before.shows(op), before
	case "unknown":
		if used != 0 || !affordable {
			return true, before
		}
	default:
		if used != 0 || !affordable {
			return false, before
		}
	}
	after := before.moved(-op.API, -op.Lead)
	if op.keySlot >= 0 {
		keys := []byte(before.keys)
		keys[op.keySlot] = byte(op.variant + 1)
		after.keys = string(keys)
	}
	return settled(before, after, op)
}

func stepRefund(before state, op *operation) (bool, state) {
	place := []byte(before.refunded)
	given := place[8*op.refundSlot:]
	api, lead := binary.LittleEndian.Uint32(given), binary.LittleEndian.Uint32(given[4:])
	fits := before.seq >= op.Of && int64(api)+op.API <= op.of.API && int64(lead)+op.Lead <= op.of.Lead
	switch {
	case op.Outcome == "refused":
		return !fits, before
	case !fits:
		return op.Outcome == "unknown", before
	}
	binary.LittleEndian.PutUint32(given, api+uint32(op.API))
	binary.LittleEndian.PutUint32(given[4:], lead+uint32(op.Lead))
	after := before.moved(op.API, op.Lead)
	after.refunded = string(place)
	return settled(before, after, op)
}

func (s state) moved(api, lead int64) state {
	s.api += api
	s.lead += lead
	s.seq++
	return s
}

// Whether the balances in the answer, where it has any, are these.
func (s state) shows(op *operation) bool {
	return (op.BalanceAPI == nil || *op.BalanceAPI == s.api) && (op.BalanceLead == nil || *op.BalanceLead == s.lead)
}

func settled(before, after state, op *operation) (bool, state) {
	if op.Outcome == "unknown" || (after.shows(op) && (op.Seq == 0 || op.Seq == after.seq)) {
		return true, after
	}
	return false, before
}

// Numbers what operations share, closes what later answers have decided, and leaves out what says nothing. Returns what
// is left, and how many keys and refunds are shared.
func prepare(ops []*operation) (left []*operation, keys, refunds int, err error) {
	byKey, bySeq := map[string][]*operation{}, map[int64]*operation{}
	for _, op := range ops {
		op.keySlot = -1
		if op.API < 0 || op.Lead < 0 {
			return nil, 0, 0, fmt.Errorf("a %s of %d and %d", op.Kind, op.API, op.Lead)
		}
		if op.Kind == "charge" && op.Key != "" {
			byKey[op.Key] = append(byKey[op.Key], op)
		}
		if op.Outcome == "charged" && op.Seq > 0 {
			bySeq[op.Seq] = op
		}
	}
	for key, sharing := range byKey {
		// A key that was used once and never again needs no memory.
		if len(sharing) == 1 && sharing[0].Outcome != "replayed" && sharing[0].Outcome != "mismatch" {
			continue
		}
		if err := shareKey(sharing, keys); err != nil {
			return nil, 0, 0, fmt.Errorf("key %s: %w", key, err)
		}
		keys++
	}
	slots := map[int64]int{}
	for _, op := range ops {
		if op.Kind != "refund" {
			continue
		}
		if op.of = bySeq[op.Of]; op.of == nil {
			return nil, 0, 0, fmt.Errorf("a refund of row %d, which is no charge of this history", op.Of)
		}
		slot, known := slots[op.Of]
		if !known {
			slot = len(slots)
			slots[op.Of] = slot
		}
		op.refundSlot = slot
	}
	return slices.DeleteFunc(slices.Clone(ops), func(op *operation) bool { return op.redundant }), keys, len(slots), nil
}

func shareKey(sharing []*operation, slot int) error {
	var uses []use
	decided := int64(0)
	for _, op := range sharing {
		what := use{op.Fingerprint, op.API, op.Lead}
		op.keySlot, op.variant = slot, slices.Index(uses, what)
		if op.variant < 0 {
			op.variant = len(uses)
			uses = append(uses, what)
		}
		if op.Outcome == "charged" || op.Outcome == "replayed" || op.Outcome == "mismatch" {
			if decided == 0 || op.Return < decided {
				decided = op.Return
			}
		}
	}
	if len(uses) > 254 {
		return fmt.Errorf("%d different requests", len(uses))
	}
	// Once an answer shows that the key is used, an attempt nobody knows the end of has happened before that or has
	// no effect: both can be placed before the answer came, and the search need not carry it on.
	// Where an answer says that it was itself the charge, no other attempt can have had an effect, and those that nobody
	// knows the end of say nothing. Of several attempts at the same thing the first is enough: it may have happened
	// whenever a later one may. (What does nothing costs most: the search would try it at every place.)
	charged := slices.ContainsFunc(sharing, func(op *operation) bool { return op.Outcome == "charged" })
	first := map[int]*operation{}
	for _, op := range sharing {
		op.uses = uses
		if op.Outcome != "unknown" {
			continue
		}
		if decided > 0 {
			op.Return = max(op.Call, decided)
		}
		if charged {
			op.redundant = true
		} else if earlier := first[op.variant]; earlier == nil {
			first[op.variant] = op
		} else if op.Call < earlier.Call {
			earlier.redundant, first[op.variant] = true, op
		} else {
			op.redundant = true
		}
	}
	return nil
}
