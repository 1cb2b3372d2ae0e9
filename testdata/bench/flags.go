package bench

import (
	"fmt"
	"strconv"
	"time"
)

// secondsFlag is a duration in seconds, fractions allowed.
type secondsFlag time.Duration

func (f *secondsFlag) Set(s string) error {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return fmt.Errorf("want a number of seconds")
	}
	*f = secondsFlag(n * float64(time.Second))
	return nil
}

func (f *secondsFlag) String() string {
	return strconv.FormatFloat(time.Duration(*f).Seconds(), 'f', -1, 64)
}

func (f *secondsFlag) Type() string { return "float" }

// choice is a flag of two words.
type choice struct {
	value   *bool
	yes, no string
}

func newChoice(value *bool, yes, no string) *choice {
	return &choice{value: value, yes: yes, no: no}
}

func (c *choice) Set(s string) error {
	if s != c.yes && s != c.no {
		return fmt.Errorf("want %s or %s", c.yes, c.no)
	}
	*c.value = s == c.yes
	return nil
}

func (c *choice) String() string {
	if *c.value {
		return c.yes
	}
	return c.no
}

func (c *choice) Type() string { return "word" }
