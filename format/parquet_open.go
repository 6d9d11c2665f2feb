package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// maxFooter is the largest footer that is read, side tables included.
const maxFooter = 256 << 20

var errNotClosed = errors.New("no Parquet footer: the log was not closed, its writer was killed or is still running")

// openParquet opens a Parquet log.
func openParquet(path string) (source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s, err := newParquetSource(f, st.Size(), "")
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s.file = f
	return s, nil
}

// newParquetSource opens a log in r, of the schema want or, if that is "", of
// any schema that a log can have.
func newParquetSource(r io.ReaderAt, size int64, want string) (s *parquetSource, err error) {
	defer recoverTo(&err)
	return openColumns(r, size, func(s *parquetSource, m *fileMeta) ([]int, error) { return s.choose(m, want) })
}

// openColumns opens the columns that choose finds: it sets def, inFile, fileCols and
// present, and returns which leaves are needed.
func openColumns(r io.ReaderAt, size int64, choose func(*parquetSource, *fileMeta) ([]int, error)) (*parquetSource, error) {
	footer, at, err := readFooter(r, size)
	if err != nil {
		return nil, err
	}
	s := &parquetSource{r: r, size: size}
	m, damage, err := parseFooter(footer, func(m *fileMeta) ([]int, error) { return choose(s, m) })
	if damage != nil {
		return nil, fmt.Errorf("footer: %w", damage)
	}
	if err != nil {
		return nil, err
	}
	if err := m.check(at, s.present); err != nil {
		return nil, err
	}
	if err := s.init(m); err != nil {
		return nil, err
	}
	return s, nil
}

// readFooter returns the footer and where it begins.
func readFooter(r io.ReaderAt, size int64) (footer []byte, at int64, err error) {
	const tail = 8
	if size < int64(len(parquetMagic))+tail {
		return nil, 0, fmt.Errorf("%w (%d bytes)", errNotClosed, size)
	}
	var end [tail]byte
	if err := readFull(r, end[:], size-tail); err != nil {
		return nil, 0, err
	}
	switch string(end[4:]) {
	case parquetMagic:
	case "PARE":
		return nil, 0, errors.New("the file is encrypted")
	default:
		return nil, 0, errNotClosed
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	if n > size-tail-int64(len(parquetMagic)) {
		return nil, 0, fmt.Errorf("footer of %d bytes in a file of %d", n, size)
	}
	if n > maxFooter {
		return nil, 0, fmt.Errorf("footer of %d bytes, more than %d are not read", n, maxFooter)
	}
	footer = make([]byte, n)
	at = size - tail - n
	return footer, at, readFull(r, footer, at)
}

func readFull(r io.ReaderAt, b []byte, off int64) error {
	if n, err := r.ReadAt(b, off); n < len(b) {
		return fmt.Errorf("offset %d: %w", off+int64(n), errors.Join(io.ErrUnexpectedEOF, err))
	}
	return nil
}

// schemaByName returns the schema of a name, nil for an unknown one.
func schemaByName(name string) *Schema {
	switch name {
	case "send/1":
		return SendSchema()
	case "recv/1":
		return RecvSchema()
	case "merged/1":
		return MergedSchema()
	case "event/1":
		return EventSchema()
	case "sample/1":
		return SampleSchema()
	case "clock/1":
		return ClockSchema()
	}
	return nil
}

// schemaVersion is the major version of every schema that this package reads.
const schemaVersion = 1

// findSchema decides what log a name in perf.schema stands for.
func findSchema(name string) (*Schema, error) {
	kind, version, ok := strings.Cut(name, "/")
	if n, err := strconv.ParseUint(version, 10, 31); ok && err == nil && n > schemaVersion &&
		schemaByName(kind+"/"+strconv.Itoa(schemaVersion)) != nil {
		return nil, fmt.Errorf("schema %s is newer than this program, which reads %s/%d", name, kind, schemaVersion)
	}
	s := schemaByName(name)
	if s == nil {
		return nil, fmt.Errorf("%w: schema %s is unknown", ErrNotLog, strconv.Quote(CleanString(name)))
	}
	return s, nil
}

// choose finds the schema of a file and which of its leaves are needed.
func (s *parquetSource) choose(m *fileMeta, want string) (keep []int, err error) {
	name, ok := m.meta[KeySchema]
	if !ok {
		return nil, s.notLog(m)
	}
	if s.def, err = findSchema(name); err != nil {
		return nil, err
	}
	if want != "" && name != want {
		return nil, fmt.Errorf("schema %s, not %s", name, want)
	}
	if _, table := tableName(name); table && want == "" {
		return nil, fmt.Errorf("%w: %s is a side table", ErrNotLog, name)
	}
	s.inFile = make([]int, len(s.def.Columns))
	for i, c := range s.def.Columns {
		at := slices.IndexFunc(m.columns, func(f fileColumn) bool { return f.name == c.Name })
		s.inFile[i] = -1
		if at < 0 {
			if !c.Nullable {
				return nil, fmt.Errorf("column %s of %s is missing", c.Name, name)
			}
			continue
		}
		f := m.columns[at]
		if err := fits(c, f); err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
		s.inFile[i] = len(keep)
		s.fileCols = append(s.fileCols, f)
		s.present = append(s.present, c.Name)
		keep = append(keep, f.leaf)
	}
	s.noteUnknown(m)
	return keep, nil
}

// notLog says how far a file without perf.schema is from a log.
func (s *parquetSource) notLog(m *fileMeta) error {
	var missing []string
	for _, def := range []*Schema{SendSchema(), RecvSchema(), MergedSchema()} {
		var lacks []string
		for _, c := range def.Columns {
			if !c.Nullable && !slices.ContainsFunc(m.columns, func(f fileColumn) bool { return f.name == c.Name }) {
				lacks = append(lacks, c.Name)
			}
		}
		if missing == nil || len(lacks) < len(missing) {
			missing = lacks
		}
		if len(lacks) == 0 {
			return fmt.Errorf("%w: the metadata key %s is missing (the columns are those of %s)", ErrNotLog, KeySchema, def.Name)
		}
	}
	return fmt.Errorf("%w: columns missing: %s", ErrNotLog, strings.Join(missing, ", "))
}

func (s *parquetSource) noteUnknown(m *fileMeta) {
	var unknown []string
	for _, f := range m.columns {
		if !slices.ContainsFunc(s.def.Columns, func(c Column) bool { return c.Name == f.name }) {
			unknown = append(unknown, strconv.Quote(CleanString(f.name)))
		}
	}
	if n := len(unknown); n > 8 {
		unknown = append(unknown[:8], fmt.Sprintf("and %d more", n-8))
	}
	if len(unknown) > 0 {
		s.notes = append(s.notes, "unknown columns ignored: "+strings.Join(unknown, ", "))
	}
}

// single reports why a column does not have one value a row.
func single(f fileColumn) error {
	if f.group {
		return errors.New("it is nested")
	}
	if f.repetition != repRequired && f.repetition != repOptional {
		return errors.New("it is repeated")
	}
	return nil
}

// fits reports why a file's column cannot be read as c.
func fits(c Column, f fileColumn) error {
	if err := single(f); err != nil {
		return err
	}
	var physOK, kindOK bool
	switch c.Type {
	case Int32, Int64:
		physOK = f.phys == physInt32 || f.phys == physInt64
		kindOK = f.kind == "" || f.kind == "INTEGER" || (f.kind == "TIMESTAMP(NANOS)" && c.Unit == instant)
	case Bool:
		physOK, kindOK = f.phys == physBool, f.kind == ""
	case String:
		physOK = f.phys == physByteArray
		kindOK = f.kind == "" || f.kind == "STRING" || f.kind == "ENUM" || f.kind == "JSON"
	}
	if !physOK || !kindOK {
		return fmt.Errorf("its type is %s, wanted is %s", fileType(f), physicalName(c.Type))
	}
	return nil
}

func fileType(f fileColumn) string {
	names := []string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}
	name := fmt.Sprintf("type %d", f.phys)
	if f.phys >= 0 && int(f.phys) < len(names) {
		name = names[f.phys]
	}
	if f.kind != "" {
		name += " " + f.kind
	}
	return name
}

func physicalName(t Type) string {
	switch t {
	case Int32:
		return "INT32"
	case Int64:
		return "INT64"
	case Bool:
		return "BOOLEAN"
	default:
		return "BYTE_ARRAY STRING"
	}
}

// recoverTo turns a panic of a library into an error, so that no file can
// end a program. It is deferred around everything that handles bytes of a file.
func recoverTo(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged in a way that was not foreseen: %v", p)
	}
}
