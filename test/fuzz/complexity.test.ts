import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { type Attack, attackBytes, maxAnswerBytes } from './attack.ts'
import { attacks } from './complexity.ts'
import { createDataFolders } from './data-folders.ts'
import { type Cost, measureAttack, type Victim } from './measure-attack.ts'

t.setTimeout(1_200_000)

/** Selects the attacks whose name contains this text. */
const only = process.env.CAUSEWAY_FUZZ_REQUEST

/** CI measures every third attack. */
const isSelected = ({ name }: Attack, index: number): boolean =>
  only === undefined ? process.env.CAUSEWAY_LONG !== undefined || index % 3 === 0 : name.includes(only)

/**
 * Bounds that a slow and busy machine stays below: the benchmark `complexity` shows the budgets. They limit processor time,
 * because other processes only increase waiting time.
 */
const bounds = {
  /** Processor time of the main thread: a constant part, and a part for each megabyte sent. */
  mainMs: 500,
  mainMsPerMegabyte: 120,
  /** Main thread, for a documented long call: four times the budget of the benchmark. */
  longMs: 3600,
  /** Processor time of all other threads. */
  otherMs: 15_000,
  memoryBytes: 600 * 2 ** 20,
  /** Main thread, when the size doubles. */
  growth: 3,
}

/** An attack is measured again if it exceeds a bound: other processes also slow the processor down. */
const attempts = 3

async function startVictim(t: Test): Promise<Victim> {
  const base = mkdtempSync(join(tmpdir(), 'causeway-attack-'))
  t.teardown(() => rmSync(base, { recursive: true, force: true }))
  const { data, roots, settings } = createDataFolders(base)
  const env = { ...settings, CAUSEWAY_RATE_LIMITS: 'off', CAUSEWAY_SHED_LAG_MS: '0' }
  const { server, url } = await startServer(t, { dir: data, cwd: roots, env })
  return { url, pid: server.process.pid as number } // set after start
}

/** Returns the exceeded bounds of an attack that was measured at two sizes. */
function findProblems(attack: Attack, half: Cost, whole: Cost): string[] {
  const found: string[] = []
  const expectAtMost = (what: string, value: number | undefined, bound: number): void => {
    if (value !== undefined && value > bound)
      found.push(`${what} ${Math.round(value)} > ${Math.round(bound)}`)
  }
  const megabytes = whole.sentBytes / 2 ** 20
  expectAtMost(
    'main thread, ms:',
    whole.mainMs,
    attack.isLong ? bounds.longMs : bounds.mainMs + bounds.mainMsPerMegabyte * megabytes,
  )
  if (half.mainMs !== undefined)
    expectAtMost(
      'main thread when the size doubles, ms:',
      whole.mainMs,
      bounds.growth * half.mainMs + bounds.mainMs,
    )
  expectAtMost('other threads, ms:', whole.otherMs, bounds.otherMs)
  expectAtMost('memory, bytes:', whole.memoryBytes, bounds.memoryBytes)
  expectAtMost('answer, bytes:', whole.answerBytes, attack.maxAnswerBytes ?? maxAnswerBytes)
  expectAtMost('status', whole.status, 499)
  return found
}

verifies('proof:complexity', async (t) => {
  const victim = await startVictim(t)
  for (const attack of attacks.filter(isSelected)) {
    const { bytes = attackBytes } = attack
    let problems: string[] = []
    for (let attempt = 0; attempt === 0 || (problems.length > 0 && attempt < attempts); attempt++) {
      const half = await measureAttack(victim, attack, bytes / 2)
      const whole = await measureAttack(victim, attack, bytes)
      problems = findProblems(attack, half, whole)
    }
    t.same(problems, [], attack.name)
  }
})
