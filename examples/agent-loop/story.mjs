/**
 * The loop of a coding agent on a real package: it edits files with its own editor, and Trm evaluates them.
 * Usage: node story.mjs <folder> [server]. The folder is a root of Trm; the package is copied into it. Node 20 or newer.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const [root, server = process.env.CAUSEWAY_URL ?? 'http://localhost:3100'] = process.argv.slice(2)
const session = `agent-${process.pid}`
const original = fileURLToPath(new URL('../../node_modules/@fastify/forwarded', import.meta.url))

/** Characters that an agent reads with Trm, and without it: the output of the tests. */
const read = { trm: 0, bare: 0 }

/** Calls a tool of Trm and returns its data. Throws the error of the tool. */
async function call(tool, args = {}) {
  const response = await fetch(`${server}/mcp/trm`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Causeway-Session': session },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: tool, arguments: args },
    }),
  })
  const { result, error } = await response.json()
  if (error !== undefined) throw new Error(error.message)
  const [{ text }] = result.content
  if (result.isError) throw new Error(text)
  read.trm += text.length
  return result.structuredContent
}

/** Replaces text in a file of a folder, as the editor of an agent does. */
function edit(folder, { file, from, to }) {
  const path = join(folder, file)
  const before = readFileSync(path, 'utf8')
  const after = before.replaceAll(from, () => to)
  if (after === before) throw new Error(`${file} does not contain ${from}`)
  writeFileSync(path, after)
}

/** Two faults in the parser of the header X-Forwarded-For. */
const faults = [
  { file: 'index.js', from: "char === ' ' || char === '\\t'", to: "char === ' '" },
  { file: 'index.js', from: "',') {\n      (start !== end) && ", to: "',') {\n      " },
]

/** What the agent tries, one after the other. */
const attempts = [
  {
    reason: 'skip blank entries',
    file: 'index.js',
    from: "',') {\n      ",
    to: "',') {\n      (start !== end) && ",
  },
  {
    reason: 'skip the tests of tabs',
    file: 'test/test.js',
    from: /^test\((?=.*HTAB)/gm,
    to: 'test.skip(',
  },
  { reason: 'accept tabs', file: 'index.js', from: "char === ' '", to: "char === ' ' || char === '\\t'" },
  { reason: 'remove checks', file: 'index.js', from: '(start !== end) && ', to: '' },
]

/** Runs the tests as an agent without Trm does, and counts the text. */
function runBare(folder) {
  const { stdout, stderr } = spawnSync('node', ['--test', 'test/test.js'], { cwd: folder, encoding: 'utf8' })
  read.bare += stdout.length + stderr.length
}

async function refine(folder) {
  runBare(folder)
  const { baseline } = await call('trm.start', { repo: folder, test: 'node --test test/test.js' })
  console.log(baseline.summary)
  let [best, isDone] = [baseline.score, false]
  for (const attempt of attempts) {
    edit(folder, attempt)
    runBare(folder)
    const result = await call('trm.submit', { reason: attempt.reason })
    console.log(`${attempt.reason}: ${result.summary}`)
    if (result.score <= best && !isDone) {
      const { filesRestored } = await call('trm.undo')
      console.log(`undone: ${filesRestored.join(', ')}`)
    }
    best = Math.max(best, result.score)
    isDone ||= result.shouldHalt
  }
  const { bestScore, bestStep } = await call('trm.state')
  console.log(`The best score is ${bestScore}, of step ${bestStep}.`)
  const { filesRestored } = await call('trm.end', { apply: 'best' })
  console.log(`restored: ${filesRestored.join(', ')}`)
}

const source = (folder) => readFileSync(join(folder, 'index.js'), 'utf8')

async function main() {
  if (root === undefined) throw new Error('name a folder of CAUSEWAY_TRM_ROOTS')
  const folder = mkdtempSync(resolve(root, 'forwarded-'))
  try {
    cpSync(original, folder, { recursive: true })
    for (const fault of faults) edit(folder, fault)
    await refine(folder)
    console.log(`The file is ${source(folder) === source(original) ? 'as it was published' : 'different'}.`)
    console.log(`The agent read ${read.trm} characters; the output of the tests has ${read.bare}.`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

main().catch((error) => {
  console.error(`story: ${error.cause?.message ?? error.message}`)
  process.exitCode = 1
})
