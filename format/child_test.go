//go:build !race

package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	pq "github.com/parquet-go/parquet-go/format"
)

// hostileFolder tells the test binary to be the process that reads the hostile files.
const hostileFolder = "PERF_TEST_HOSTILE"

// TestHostileFilesInAProcess reads bad files in a process that may not have more than 2 GiB of address space: what a library
// would allocate on the word of a file ends that process, and no recover would help. (The race detector needs more than that.)
func TestHostileFilesInAProcess(t *testing.T) {
	if dir := os.Getenv(hostileFolder); dir != "" {
		readHostile(t, dir)
		return
	}
	t.Parallel()
	dir := t.TempDir()
	files := hostileFiles(t)
	for name, f := range files {
		must(t, os.WriteFile(filepath.Join(dir, name), f.content, 0o600))
	}
	exe, err := os.Executable()
	must(t, err)
	c := exec.Command("bash", "-c", `ulimit -v 2097152; exec "$0" -test.run='^TestHostileFilesInAProcess$' -test.v`, exe)
	// One thread at work, and no arenas of the C library for each: they would be most of the address space.
	c.Env = append(os.Environ(), hostileFolder+"="+dir, "GOMAXPROCS=1", "MALLOC_ARENA_MAX=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, tail(out, 14000))
	}
	verdicts := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if f := strings.SplitN(strings.TrimSpace(line), "\t", 3); len(f) == 3 && f[0] == "file" {
			verdicts[f[1]] = f[2]
		}
	}
	for name, f := range files {
		switch v, read := verdicts[name]; {
		case !read:
			t.Errorf("%s was not read", name)
		case f.want != "" && !strings.Contains(v, f.want):
			t.Errorf("%s: %s, want %q", name, v, f.want)
		case strings.Contains(v, "not foreseen"):
			t.Errorf("%s: %s", name, v)
		}
	}
	t.Logf("%d hostile files", len(files))
}

func tail(b []byte, n int) []byte { return b[max(0, len(b)-n):] }

// readHostile reads every file as a command would, and prints what became of it.
func readHostile(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		begin := time.Now()
		err := readOne(filepath.Join(dir, e.Name()))
		if took := time.Since(begin); took > 10*time.Second { // a hang, not a busy machine
			t.Errorf("%s: took %v", e.Name(), took)
		}
		fmt.Printf("file\t%s\t%s\n", e.Name(), strings.Join(strings.Fields(fmt.Sprint(err)), " "))
	}
	status, err := os.ReadFile("/proc/self/status")
	must(t, err)
	var peak int64 // KiB
	if _, rest, ok := strings.Cut(string(status), "VmHWM:"); ok {
		if _, err := fmt.Sscan(rest, &peak); err != nil {
			t.Error(err)
		}
	}
	if peak > 512<<10 {
		t.Errorf("the process had %d MiB at its peak", peak>>10)
	}
}

func readOne(path string) (err error) {
	l, err := Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	rows := newBatch(l.Schema())
	for l.RowsRead() < 4<<20 {
		if err := l.Read(rows); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
	}
	return errors.Join(l.Table(&Event{}), l.Table(&Sample{}), l.Table(&ClockRow{}))
}

type hostileFile struct {
	content []byte
	want    string // part of the error, "" if there need be none
}

// hostileFiles are made from sound ones: what is known to break readers of Parquet and Arrow, and damage at random.
func hostileFiles(t *testing.T) map[string]hostileFile {
	t.Helper()
	files := hostileFooters(t)
	log := smallLog(t)
	stream := writeStream(t, nil, sendRows(0, 0, 50))
	const seed = 1 // these are a sample of what other tests do at every place
	r := rand.New(rand.NewPCG(seed, seed))
	for i := range 300 {
		for kind, sound := range map[string][]byte{"parquet": log, "stream": stream} {
			damaged := bytes.Clone(sound)
			for range 1 + r.IntN(4) {
				damaged[r.IntN(len(damaged))] ^= byte(1 << r.IntN(8))
			}
			files[fmt.Sprintf("flips-%03d.%s", i, kind)] = hostileFile{content: damaged}
			files[fmt.Sprintf("cut-%03d.%s", i, kind)] = hostileFile{content: sound[:r.IntN(len(sound))]}
			huge := bytes.Clone(sound)
			at := r.IntN(len(huge)-8) &^ 3
			binary.LittleEndian.PutUint64(huge[at:], []uint64{1 << 29, 1<<31 - 1, 1 << 40, math.MaxInt64, math.MaxUint64}[r.IntN(5)])
			files[fmt.Sprintf("huge-%03d.%s", i, kind)] = hostileFile{content: huge}
		}
	}
	return files
}

// hostileFooters rewrites the footer, and page headers, of a sound log.
func hostileFooters(t *testing.T) map[string]hostileFile {
	t.Helper()
	files := map[string]hostileFile{
		"footer-of-789-MiB.parquet":     {[]byte("PAR1PAR1"), "not closed"},
		"footer-beyond-file.parquet":    {append(binary.LittleEndian.AppendUint32([]byte("PAR1"), 1<<30), "PAR1"...), "footer"},
		"arrow-file-not-stream.arrow":   {append([]byte("ARROW1\x00\x00"), make([]byte, 64)...), "neither Parquet nor an Arrow stream"},
		"stream-of-515-GB.arrows":       {append([]byte("\xff\xff\xff\xff"), binary.LittleEndian.AppendUint32(nil, math.MaxInt32)...), ""},
		"stream-negative-length.arrows": {[]byte("\xff\xff\xff\xff\xff\xff\xff\xff"), ""},
	}
	for name, c := range map[string]struct {
		change func(m *pq.FileMetaData)
		want   string
	}{
		"row-group-of-minus-one-rows":       {func(m *pq.FileMetaData) { m.RowGroups[0].NumRows = -1 }, "rows"},
		"minus-one-rows":                    {func(m *pq.FileMetaData) { m.NumRows = -1 }, "rows"},
		"more-rows-than-values":             {func(m *pq.FileMetaData) { m.NumRows, m.RowGroups[0].NumRows = 1<<40, 1<<40 }, ""},
		"columns-of-unequal-length":         {func(m *pq.FileMetaData) { m.RowGroups[0].Columns[3].MetaData.NumValues-- }, "column seq"},
		"column-too-long":                   {func(m *pq.FileMetaData) { m.RowGroups[0].Columns[3].MetaData.NumValues = math.MaxInt64 }, "column seq"},
		"chunk-at-negative-offset":          {func(m *pq.FileMetaData) { m.RowGroups[0].Columns[3].MetaData.DataPageOffset = -4 }, ""},
		"chunk-beyond-file":                 {func(m *pq.FileMetaData) { m.RowGroups[0].Columns[3].MetaData.DataPageOffset = 1 << 50 }, ""},
		"chunk-of-negative-size":            {func(m *pq.FileMetaData) { m.RowGroups[0].Columns[3].MetaData.TotalCompressedSize = -4001 }, ""},
		"chunk-larger-than-file":            {func(m *pq.FileMetaData) { m.RowGroups[0].Columns[3].MetaData.TotalCompressedSize = 1 << 40 }, ""},
		"dictionary-after-data":             {func(m *pq.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.DictionaryPageOffset = 1 << 40 }, ""},
		"no-columns":                        {func(m *pq.FileMetaData) { m.RowGroups[0].Columns = nil }, ""},
		"schema-of-itself":                  {func(m *pq.FileMetaData) { m.Schema[0].NumChildren = thrift.New(int32(math.MaxInt32)) }, ""},
		"schema-with-negative-children":     {func(m *pq.FileMetaData) { m.Schema[0].NumChildren = thrift.New(int32(-1)) }, ""},
		"repeated-column":                   {func(m *pq.FileMetaData) { m.Schema[4].RepetitionType = thrift.New(pq.Repeated) }, ""},
		"required-column-declared-nullable": {func(m *pq.FileMetaData) { m.Schema[4].RepetitionType = thrift.New(pq.Optional) }, ""},
		"nullable-column-declared-required": {func(m *pq.FileMetaData) { m.Schema[10].RepetitionType = thrift.New(pq.Required) }, ""},
		"column-of-another-type":            {func(m *pq.FileMetaData) { m.Schema[4].Type = thrift.New(pq.Double) }, "seq"},
		"side-table-that-is-none":           {func(m *pq.FileMetaData) { setKey(m, "perf.table.sample", "PAR1PAR1") }, ""},
		"side-table-not-base64":             {func(m *pq.FileMetaData) { setKey(m, "perf.table.sample", "\x00\xff") }, ""},
	} {
		files[name+".parquet"] = hostileFile{content: withFooter(t, smallLog(t), c.change), want: c.want}
	}
	for name, c := range map[string]struct {
		change func(h *pq.PageHeader)
		want   string
	}{
		"page-of-negative-size":        {func(h *pq.PageHeader) { h.CompressedPageSize = -4001 }, "seq"},
		"page-negative-uncompressed":   {func(h *pq.PageHeader) { h.UncompressedPageSize = -1 }, "seq"},
		"page-of-2-GiB":                {func(h *pq.PageHeader) { h.UncompressedPageSize = math.MaxInt32 }, "seq"},
		"page-of-negative-values":      {func(h *pq.PageHeader) { setValues(h, -1) }, "seq"},
		"page-of-two-thousand-million": {func(h *pq.PageHeader) { setValues(h, math.MaxInt32) }, "seq"},
		"page-with-a-wrong-checksum":   {func(h *pq.PageHeader) { h.CRC = 12345 }, "checksum"},
		"page-of-an-unknown-type":      {func(h *pq.PageHeader) { h.Type = 99 }, ""},
	} {
		files[name+".parquet"] = hostileFile{content: withPage(t, smallLog(t), c.change), want: c.want}
	}
	return files
}

// setValues sets the number of values, whichever version the page has.
func setValues(h *pq.PageHeader, n int32) {
	h.DataPageHeader.V.NumValues, h.DataPageHeaderV2.V.NumValues = n, n
}

func setKey(m *pq.FileMetaData, key, value string) {
	for i := range m.KeyValueMetadata {
		if m.KeyValueMetadata[i].Key == key {
			m.KeyValueMetadata[i].Value = value
		}
	}
}

// withFooter rewrites the footer of a log.
func withFooter(t *testing.T, log []byte, change func(m *pq.FileMetaData)) []byte {
	t.Helper()
	m, body := footerOf(t, log)
	change(m)
	return closeFile(t, body, m)
}

func footerOf(t *testing.T, log []byte) (*pq.FileMetaData, []byte) {
	t.Helper()
	end := len(log) - 8
	begin := end - int(binary.LittleEndian.Uint32(log[end:]))
	m := &pq.FileMetaData{}
	must(t, thrift.Unmarshal(new(thrift.CompactProtocol), log[begin:end], m))
	return m, bytes.Clone(log[:begin])
}

func closeFile(t *testing.T, body []byte, m *pq.FileMetaData) []byte {
	t.Helper()
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), m)
	must(t, err)
	body = binary.LittleEndian.AppendUint32(append(body, footer...), uint32(len(footer)))
	return append(body, parquetMagic...)
}

// withPage rewrites the header of the first data page of column seq.
func withPage(t *testing.T, log []byte, change func(h *pq.PageHeader)) []byte {
	t.Helper()
	m, body := footerOf(t, log)
	at := int(m.RowGroups[0].Columns[3].MetaData.DataPageOffset)
	h, size := pq.PageHeader{}, 1
	for thrift.Unmarshal(new(thrift.CompactProtocol), body[at:at+size], &h) != nil { // it has no length of its own
		h = pq.PageHeader{}
		size++
	}
	change(&h)
	changed, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
	must(t, err)
	grown := int64(len(changed) - size)
	m.RowGroups[0].Columns[3].MetaData.TotalCompressedSize += grown
	for i := range m.RowGroups[0].Columns {
		c := &m.RowGroups[0].Columns[i].MetaData
		if c.DataPageOffset > int64(at) {
			c.DataPageOffset += grown
		}
		if c.DictionaryPageOffset > int64(at) {
			c.DictionaryPageOffset += grown
		}
	}
	body = append(append(bytes.Clone(body[:at]), changed...), body[at+size:]...)
	return closeFile(t, body, m)
}
