// Package interop checks that programs of others understand our files and our broker: Java's HistogramLogProcessor, DuckDB,
// pyarrow, and Qpid Proton's Python binding. Its tests run only with PERF_TEST_PYTHON, PERF_TEST_JAVA and PERF_TEST_HDR_JAR, which
// `make interop` installs and sets; that takes a skipped test for a failure. The Python programs are in testdata.
package interop
