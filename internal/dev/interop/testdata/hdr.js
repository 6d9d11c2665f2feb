// hdr.js LIBRARY FILE prints what hdr-histogram-js reads from a histogram log:
// for every tag the count and the quantiles of all intervals, "" the untagged.
const hdr = require(process.argv[2])
const reader = new hdr.HistogramLogReader(require('fs').readFileSync(process.argv[3], 'utf8'))
const series = {}
for (let h; (h = reader.nextIntervalHistogram()) != null;) {
  const tag = h.tag === undefined || h.tag === 'NO TAG' ? '' : h.tag
  const s = series[tag] ??= { count: 0, first_ms: h.startTimeStampMsec, sum: hdr.build({ bitBucketSize: 64, highestTrackableValue: 7200e9, numberOfSignificantValueDigits: 3 }) }
  s.count += h.totalCount
  s.sum.add(h)
}
const out = {}
for (const [tag, s] of Object.entries(series)) {
  out[tag] = { count: s.count, first_ms: s.first_ms, quantiles: {} }
  for (const p of ['50', '90', '99', '99.9']) out[tag].quantiles[p] = s.sum.getValueAtPercentile(Number(p))
}
console.log(JSON.stringify(out))
