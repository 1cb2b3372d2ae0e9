package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"regent.local/regent/testdata/bench"
)

// suite runs the cells of the rows against one server.
type suite struct {
	regent  string // path of the program
	self    string
	rounds  int
	seconds string
	topics  []string
	out     io.Writer
	errOut  io.Writer
	dsn     string
}

func newSuiteCmd() *cobra.Command {
	s := &suite{}
	cmd := &cobra.Command{
		Use:   "suite",
		Short: "Compare Regent with its peers, cell by cell in turns, on one private PostgreSQL",
		Long: `Suite starts a private PostgreSQL with fsync on and runs the cells of each row in
turns: A B C A B C ... Rates of a busy or small machine move a lot, so a row
shows the median of each cell and the median of the ratios of each turn.
It writes nothing but its output.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.out, s.errOut = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return s.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&s.regent, "regent", "bin/regent", "the program regent")
	cmd.Flags().IntVar(&s.rounds, "rounds", envNumber("BENCH_ROUNDS", 3), "turns of each row (default: BENCH_ROUNDS, else 3)")
	cmd.Flags().StringSliceVar(&s.topics, "topics", strings.FieldsFunc(os.Getenv("BENCH_TOPICS"), func(r rune) bool { return r == ',' }),
		"rows of these topics only: "+strings.Join(allTopics, ", ")+" (default: BENCH_TOPICS, else all)")
	cmd.Flags().StringVar(&s.seconds, "seconds", envOr("BENCH_SECONDS", "3"), "length of a cell (default: BENCH_SECONDS, else 3)")
	return cmd
}

func envOr(name, unset string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return unset
}

func envNumber(name string, unset int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return unset
}

func (s *suite) run(ctx context.Context) (err error) {
	if s.rounds < 1 || s.rounds > 100 {
		return errors.New("--rounds must be between 1 and 100")
	}
	for _, t := range s.topics {
		if !slices.Contains(allTopics, t) {
			return fmt.Errorf("--topics must be of %s", strings.Join(allTopics, ", "))
		}
	}
	if s.self, err = os.Executable(); err != nil {
		return err
	}
	dsn, stop, err := bench.StartServer(ctx, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	s.dsn = dsn
	begin := time.Now()
	var lines []line
	for _, g := range groups {
		if len(s.topics) > 0 && !slices.Contains(s.topics, cmp.Or(g.topic, messagesTopic)) {
			continue
		}
		turns, err := s.turns(ctx, g)
		if err != nil {
			return err
		}
		for _, r := range g.rows {
			lines = append(lines, r.judge(turns))
		}
	}
	printLines(s.out, lines)
	fmt.Fprintf(s.out, "\n%d turns of %s s a cell, %s in all. Ratios are medians of the ratios of each turn.\n",
		s.rounds, s.seconds, time.Since(begin).Round(time.Second))
	return nil
}

// turns runs the cells of a group one after the other, again and again.
func (s *suite) turns(ctx context.Context, g group) ([]map[string]*bench.Result, error) {
	var turns []map[string]*bench.Result
	rounds := cmp.Or(g.turns, s.rounds)
	if g.once {
		rounds = 1
	}
	for n := range rounds {
		turn := map[string]*bench.Result{}
		for _, c := range g.cells {
			r, err := s.cell(ctx, c)
			if err != nil {
				return nil, err
			}
			turn[c.name] = r
			fmt.Fprintf(s.errOut, "%d/%d  %s\n", n+1, rounds, r.Line())
		}
		turns = append(turns, turn)
	}
	return turns, nil
}

// cell runs one program once.
func (s *suite) cell(ctx context.Context, c cell) (*bench.Result, error) {
	program, args := s.regent, []string{"bench", "--output", "json"}
	if c.name == riverCell {
		program, args = s.self, []string{"river"}
	}
	args = append(append(args, "--dsn", s.dsn, "--seconds", s.seconds), c.args...)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	cmd.Stderr = s.errOut
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("cell %s %v: %w", c.name, c.args, err)
	}
	var r bench.Result
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("cell %s: read its result: %w", c.name, err)
	}
	return &r, nil
}
