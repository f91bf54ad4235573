#!/usr/bin/env node
// Plain JavaScript on purpose: an old Node must reach this sentence before it meets anything that it cannot run.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major > 22 || (major === 22 && minor >= 19)) {
  await import('../dist/main.js')
} else {
  process.stderr.write(`causeway: needs Node 22.19 or newer, this is ${process.versions.node}\n`)
  process.exitCode = 1
}
