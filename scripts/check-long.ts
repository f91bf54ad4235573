/**
 * `npm run check:long`: every check with its full counts, one part after the other, kept in docs/reliability.md.
 * `npm run check:long -- soak fuzz` runs these parts alone.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { machine } from './bench/machine.ts'
import { type Part, parts } from './long/parts.ts'
import { closingWords, type Outcome, withOutcome } from './long/reliability.ts'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const report = join(root, 'docs/reliability.md')
const say = (line: string): void => void process.stderr.write(`check:long: ${line}\n`)

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !parts.some((part) => part.name === name))
if (unknown.length > 0) {
  say(`no such part: ${unknown.join(', ')}; there are ${parts.map(({ name }) => name).join(', ')}`)
  process.exitCode = 1
} else
  for (const part of parts.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
    say(part.name)
    const outcome = await run(part)
    const before = existsSync(report) ? readFileSync(report, 'utf8') : undefined
    writeFileSync(report, withOutcome(before, outcome))
    say(`${part.name}: ${outcome.isGood ? 'passed' : 'FAILED'} after ${Math.round(outcome.seconds)} s`)
    if (!outcome.isGood) process.exitCode = 1
  }

async function run({ name, about, args, env }: Part): Promise<Outcome> {
  const facts = machine(root)
  const started = performance.now()
  const files = args.flatMap((one) => (one.includes('*') ? globSync(one, { cwd: root }) : [one]))
  const child = spawn(process.execPath, files, {
    cwd: root,
    env: { ...process.env, ...env, CAUSEWAY_LONG: 'true' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const output: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => {
    output.push(chunk)
    process.stdout.write(chunk)
  })
  const [code] = await once(child, 'close')
  const seconds = (performance.now() - started) / 1000
  return {
    name,
    about,
    isGood: code === 0,
    seconds,
    facts,
    said: closingWords(Buffer.concat(output).toString()),
  }
}
