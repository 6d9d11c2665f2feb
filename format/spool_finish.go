package format

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
)

// FinishOptions are the choices of [SpoolWriter.Finish]; the zero value is good.
type FinishOptions struct {
	CreatedBy string // goes into the Parquet footer: "perf-send version 1.2.0"
}

// Finish makes the log: the rows in the order that perf.order promises, by way
// of NAME.partial, synced, and renamed without replacing anything that was not
// to be replaced; then the spool is removed. Memory is bounded whatever the
// number and order of rows. If anything fails the spool stays, to be read as a
// log, and the error says so.
func (s *SpoolWriter) Finish(meta Meta, o FinishOptions) error {
	if s.closed {
		return errors.New("the spool is closed")
	}
	s.SetMeta(meta)
	err := s.closeStreams()
	if err == nil {
		err = s.convert(meta, o)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the log %s was not finished; its rows are in %s, which can be read like it: %w", s.target, s.dir, err), s.unlock())
	}
	if err = errors.Join(os.RemoveAll(s.dir), s.unlock()); err != nil {
		return fmt.Errorf("%s is complete, but its spool was not removed: %w", s.target, err)
	}
	return nil
}

// convert writes the spool as a Parquet file.
func (s *SpoolWriter) convert(meta Meta, o FinishOptions) error {
	rows, err := openSpoolFile(s.dir, spoolRows, s.schema)
	if err != nil {
		return err
	}
	if rows == nil {
		return fmt.Errorf("%s is gone", spoolRows)
	}
	w, err := CreateParquet(s.target, s.schema, ParquetOptions{CreatedBy: o.CreatedBy, Force: s.force})
	if err != nil {
		return errors.Join(err, rows.close())
	}
	err = s.writeTables(w)
	if err == nil {
		err = restore(s.dir, rows, w, chunkRows, lateMemory)
	}
	if err = errors.Join(err, rows.close()); err != nil {
		return errors.Join(err, w.Abort())
	}
	all := s.meta.Clone()
	maps.Copy(all, meta)
	all[KeyOrder] = OrderSeq
	if s.schema.Name == "recv/1" {
		all[KeyOrder] = OrderReceived
	}
	w.SetMeta(all)
	return w.Close()
}

func (s *SpoolWriter) writeTables(w Writer) error {
	tables := spoolTables()
	for _, schema := range slices.Sorted(maps.Keys(tables)) {
		f, err := openSpoolFile(s.dir, tables[schema], schemaByName(schema))
		if err != nil {
			return err
		}
		if f == nil {
			continue
		}
		b := newBatch(schema)
		for err = f.read(b); err == nil; err = f.read(b) {
			if err = w.Table(b); err != nil {
				break
			}
		}
		if err = errors.Join(ignoreEOF(err), f.broken, f.close()); err != nil {
			return fmt.Errorf("%s: %w", tables[schema], err)
		}
	}
	return nil
}

// restore writes the rows of a spool in order, provisional ones that nothing
// finished included: chunks of so many rows, and at most limit stragglers in memory.
func restore(dir string, rows *spoolFile, w Writer, chunk, limit int) (err error) {
	late := newLateRows(dir, rows, limit)
	defer func() { err = errors.Join(err, late.close()) }()
	s, err := takeSurvey(rows, late, chunk)
	if err != nil {
		return err
	}
	if err := addUnfinished(dir, rows, late); err != nil {
		return err
	}
	want := rows.rows + late.open
	rows.want = nil
	if err := rows.rewind(); err != nil {
		return err
	}
	late.base = rows.st
	if err := late.begin(); err != nil {
		return err
	}
	p := &orderPass{rows: rows, survey: s, late: late, out: newEmitter(w, rows.def), buckets: map[int32]*bucket{}}
	err = p.run()
	written, werr := p.out.close()
	if errors.Is(err, errEmitter) {
		err = nil
	}
	if err = errors.Join(err, werr); err != nil {
		return err
	}
	if written != want {
		return fmt.Errorf("%d rows written of %d in the spool", written, want)
	}
	return nil
}

// addUnfinished treats provisional rows without a finished one as stragglers.
func addUnfinished(dir string, rows *spoolFile, late *lateRows) error {
	u, err := openUnfinished(dir, rows.def)
	if u == nil || err != nil {
		return err
	}
	u.f.st.share(rows.st)
	g := newGatherer(newBatch(rows.def.Name))
	scratch := newBatch(rows.def.Name)
	for {
		err := u.read(g, scratch)
		if err != nil {
			return errors.Join(ignoreEOF(err), u.close())
		}
		index := make([]int32, g.dst.Len())
		for i := range index {
			index[i] = int32(i) //nolint:gosec // within a batch
		}
		late.open += int64(len(index))
		if err := late.add(g.dst, index); err != nil {
			return errors.Join(err, u.close())
		}
	}
}
