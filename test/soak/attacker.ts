/** Entry of a thread that sends random attacks to a server. In a thread, generating them does not delay other clients. */
import { constants, setPriority } from 'node:os'
import { setTimeout as wait } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { appAttacks } from '../fuzz/app-attacks.ts'
import { attackBytes } from '../fuzz/attack.ts'
import { attacks } from '../fuzz/complexity.ts'
import { limitAttacks } from '../fuzz/limit-attacks.ts'
import { measureAttack, type Victim } from '../fuzz/measure-attack.ts'
import { randomFrom } from '../random.ts'

/** The `workerData` of the thread. */
export interface AttackerData {
  readonly victim: Victim
  readonly seed: number
  /** Unix time in milliseconds at which the thread ends. */
  readonly until: number
}

/** The message for each attack. */
export interface AttackResult {
  readonly name: string
  /** Longest time that another client waited for /health, in ms. */
  readonly blockedMs?: number
  /** Why there was no response. */
  readonly error?: string
}

/** Attacks without those on apps, which would change the plots and minds of other clients. */
const harmless = attacks.filter((attack) => !appAttacks.includes(attack) && !limitAttacks.includes(attack))

const { victim, seed, until } = workerData as AttackerData
const random = randomFrom(seed)
const post = (result: AttackResult): void => parentPort?.postMessage(result)
// The attacker represents another machine: preparing requests of 12 MB must not take a processor from the server.
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL)
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
