/** The entry of a thread that sends random attacks to a server, so that making them does not delay other clients. */
import { setTimeout as wait } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { appAttacks } from '../fuzz/app-attacks.ts'
import { attackBytes } from '../fuzz/attack.ts'
import { attacks } from '../fuzz/complexity.ts'
import { measureAttack, type Victim } from '../fuzz/measure-attack.ts'
import { randomFrom } from '../random.ts'

/** What the thread is started with. */
export interface AttackerData {
  readonly victim: Victim
  readonly seed: number
  /** Unix time in milliseconds at which it ends. */
  readonly until: number
}

/** What it posts for each attack. */
export interface AttackResult {
  readonly name: string
  /** The longest time that another client waited for /health, ms. */
  readonly blockedMs?: number
  /** Why there was no answer. */
  readonly error?: string
}

/** Those on apps change plots and minds that other clients use. */
const harmless = attacks.filter((attack) => !appAttacks.includes(attack))

const { victim, seed, until } = workerData as AttackerData
const random = randomFrom(seed)
const post = (result: AttackResult): void => parentPort?.postMessage(result)
while (Date.now() < until) {
  const attack = random.pick(harmless)
  try {
    const { blockedMs } = await measureAttack(victim, attack, attack.bytes ?? attackBytes)
    post({ name: attack.name, blockedMs })
  } catch (error) {
    post({ name: attack.name, error: (error as Error).message })
  }
  await wait(random.below(200))
}
