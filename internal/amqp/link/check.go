package link

import (
	"errors"
	"fmt"
)

// errOwnOnly is about options that go-amqp's public API has nothing for.
func errOwnOnly(what string) error {
	return fmt.Errorf("%s: needs --client own, go-amqp cannot do that", what)
}

// check reports the first option that cannot be honoured.
func (cfg *SenderConfig) check(c *Conn) error {
	switch {
	case cfg.Session != nil && cfg.Session.conn != c:
		return errors.New("the session belongs to another connection")
	case cfg.BodySection != "" && cfg.BodySection != BodyData && cfg.BodySection != BodyValue:
		return fmt.Errorf("body section %q is unknown", printable(string(cfg.BodySection)))
	}
	if cfg.Session != nil {
		cfg.session = cfg.Session.own
	}
	return checkTx(c, cfg.Tx, cfg.TxRollback, cfg.Presettled)
}

// check reports the first option that cannot be honoured.
func (cfg *ReceiverConfig) check(c *Conn, a Address) error {
	if cfg.Session != nil && cfg.Session.conn != c {
		return errors.New("the session belongs to another connection")
	}
	if err := cfg.checkSource(c, a); err != nil {
		return err
	}
	if cfg.Session != nil {
		cfg.session = cfg.Session.own
	}
	return checkTx(c, cfg.Tx, cfg.TxRollback, cfg.Presettled)
}

// checkTx checks the options about transactions.
func checkTx(c *Conn, n int, rollback float64, presettled bool) error {
	switch {
	case n < 0:
		return fmt.Errorf("transactions of %d messages", n)
	case n == 0 && rollback != 0:
		return errors.New("a share of transactions to roll back, but no transactions")
	case n == 0:
		return nil
	case !(rollback >= 0 && rollback <= 1):
		return fmt.Errorf("share %v of transactions to roll back: 0 to 1", rollback)
	case presettled:
		return errors.New("transactions and settled messages contradict each other: nothing would be left to commit")
	case c.plane == nil:
		return errOwnOnly("transactions")
	}
	return nil
}
