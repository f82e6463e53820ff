// The judge: reads a history of operations on accounts, says whether it could have come from accounts that work.
//
//	judge [-seconds 30] [-memory-mib 2048] [-most 5000] < history.jsonl > verdict.json
//
// Every account's history is checked on its own for linearizability by porcupine. Exits with 0 for a good history, 1
// for a bad one or one that could not be decided within the bounds, 2 for one that cannot be read. Knows nothing of the
// service: only the history, and the rules in model.go.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"
)

const (
	mostPerCheck = 10
	hintLimit    = 2 * time.Second
)

type problem struct {
	Check   string `json:"check"` // linearizable, identical-answers, undecided
	Account string `json:"account"`
	What    string `json:"what"`
}

type verdict struct {
	Good       bool    `json:"good"`
	Accounts   int     `json:"accounts"`
	Operations int     `json:"operations"`
	Unknown    int     `json:"unknown"`
	Largest    int     `json:"largest_account"`
	Seconds    float64 `json:"seconds"`

	Broken   map[string]int `json:"broken"`   // how often each check failed
	Problems []problem      `json:"problems"` // the first of each
}

func main() {
	seconds := flag.Float64("seconds", 30, "most time for one account")
	memory := flag.Uint64("memory-mib", 2048, "most memory for all that is checked at once")
	most := flag.Int("most", 5000, "most operations of one account")
	flag.Parse()
	started := time.Now()
	accounts, err := readHistory(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "judge: unreadable history:", err)
		os.Exit(2)
	}
	found := verdict{Accounts: len(accounts), Broken: map[string]int{}, Problems: []problem{}}
	for _, ops := range accounts {
		found.Operations += len(ops)
		found.Largest = max(found.Largest, len(ops))
		for _, op := range ops {
			if op.Outcome == "unknown" {
				found.Unknown++
			}
		}
	}
	problems := judge(accounts, time.Duration(*seconds*float64(time.Second)), *memory<<20, *most)
	sort.Slice(problems, func(i, j int) bool { return problems[i].Account < problems[j].Account })
	found.Good = len(problems) == 0
	for _, one := range problems {
		found.Broken[one.Check]++
		if found.Broken[one.Check] <= mostPerCheck {
			found.Problems = append(found.Problems, one)
		}
	}
	found.Seconds = time.Since(started).Seconds()
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(found); err != nil {
		fmt.Fprintln(os.Stderr, "judge:", err)
		os.Exit(2)
	}
	if !found.Good {
		os.Exit(1)
	}
}

func judge(accounts map[string][]*operation, limit time.Duration, memory uint64, most int) []problem {
	var spent atomic.Bool
	done := make(chan struct{})
	go watchMemory(memory, &spent, done)
	defer close(done)

	var problems []problem
	var lock sync.Mutex
	var running sync.WaitGroup
	turns := make(chan struct{}, runtime.NumCPU())
	for account, ops := range accounts {
		running.Add(1)
		turns <- struct{}{}
		go func() {
			found := judgeAccount(ops, limit, most, &spent)
			<-turns
			lock.Lock()
			defer lock.Unlock()
			for _, one := range found {
				one.Account = account
				problems = append(problems, one)
			}
			running.Done()
		}()
	}
	running.Wait()
	return problems
}

func judgeAccount(ops []*operation, limit time.Duration, most int, spent *atomic.Bool) []problem {
	found := differentAnswers(ops)
	ops, keys, refunds, err := prepare(ops)
	if err != nil {
		return append(found, problem{Check: "linearizable", What: err.Error()})
	}
	if len(ops) > most {
		return append(found, problem{Check: "undecided", What: fmt.Sprintf("%d operations, more than %d", len(ops), most)})
	}
	history := make([]porcupine.Operation, len(ops))
	for i, op := range ops {
		history[i] = porcupine.Operation{ClientId: op.Client, Input: op, Call: op.Call, Return: op.Return}
	}
	rules := model(keys, refunds, spent.Load)
	switch result := porcupine.CheckOperationsTimeout(rules, history, limit); {
	case result == porcupine.Ok:
		return found
	case spent.Load():
		return append(found, problem{Check: "undecided", What: "out of memory"})
	case result == porcupine.Unknown:
		return append(found, problem{Check: "undecided", What: fmt.Sprintf("not decided within %s", limit)})
	}
	// Only now, as keeping account of how far it came is slow.
	_, info := porcupine.CheckOperationsVerbose(rules, history, min(limit, hintLimit))
	return append(found, problem{Check: "linearizable", What: furthest(info, ops)})
}

// Every answer to one key of an account has the same bytes.
func differentAnswers(ops []*operation) []problem {
	first := map[string]string{}
	var found []problem
	for _, op := range ops {
		if op.Key == "" || op.Answer == "" || (op.Outcome != "charged" && op.Outcome != "replayed") {
			continue
		}
		if answer, known := first[op.Key]; !known {
			first[op.Key] = op.Answer
		} else if answer != op.Answer {
			found = append(found, problem{Check: "identical-answers", What: "key " + op.Key + " has two answers"})
		}
	}
	return found
}

// How far the longest attempt came, and the first operations that it left out.
func furthest(info porcupine.LinearizationInfo, ops []*operation) string {
	var longest []porcupine.Operation
	for _, partition := range info.PartialLinearizationsOperations() {
		for _, partial := range partition {
			if len(partial) > len(longest) {
				longest = partial
			}
		}
	}
	placed := map[*operation]bool{}
	for _, op := range longest {
		placed[op.Input.(*operation)] = true
	}
	var left []*operation
	for _, op := range ops {
		if !placed[op] && op.Outcome != "unknown" {
			left = append(left, op)
		}
	}
	sort.Slice(left, func(i, j int) bool { return left[i].Return < left[j].Return })
	what := fmt.Sprintf("%d of %d operations fit an order", len(longest), len(ops))
	for _, op := range left[:min(2, len(left))] {
		line, err := json.Marshal(op)
		if err != nil {
			continue
		}
		what += "; then not " + string(line)
	}
	return what
}

func watchMemory(most uint64, spent *atomic.Bool, done chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-time.After(50 * time.Millisecond):
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			if now.HeapAlloc > most {
				spent.Store(true)
			}
		}
	}
}
