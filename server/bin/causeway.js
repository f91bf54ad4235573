#!/usr/bin/env node
// Plain JavaScript, so that an old Node can print the message below.
import module from 'node:module'

const [major, minor] = process.versions.node.split('.').map(Number)
if (major > 22 || (major === 22 && minor >= 19)) {
  // Later starts reuse compiled code and stripped types.
  module.enableCompileCache?.()
  const isFromSource = process.execArgv.includes('--conditions=@causeway/source')
  await import(isFromSource ? '../src/main.ts' : '../dist/main.js')
} else {
  process.stderr.write(`causeway: needs Node 22.19 or newer, this is ${process.versions.node}\n`)
  process.exitCode = 1
}
