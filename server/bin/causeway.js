#!/usr/bin/env node
// Plain JavaScript on purpose: an old Node must reach this sentence before it meets anything that it cannot run.
import module from 'node:module'

const [major, minor] = process.versions.node.split('.').map(Number)
if (major > 22 || (major === 22 && minor >= 19)) {
  // What was compiled at the last start is not compiled again: a fifth less time until the server is ready.
  module.enableCompileCache?.()
  await import('../dist/main.js')
} else {
  process.stderr.write(`causeway: needs Node 22.19 or newer, this is ${process.versions.node}\n`)
  process.exitCode = 1
}
