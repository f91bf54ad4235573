/** Measures what the expensive requests of the fuzz tests cost the built server. */
import { attackBytes } from '../test/fuzz/attack.ts'
import { attacks } from '../test/fuzz/complexity.ts'
import { createDataFolders } from '../test/fuzz/data-folders.ts'
import { measureAttack } from '../test/fuzz/measure-attack.ts'
import type { Program } from './program.ts'
import { held, number, type Section } from './report.ts'

/** What a request may cost, however it is made. */
const budgets = {
  mainMs: { most: 200 },
  /** The same for a documented long call, which works in short steps. */
  longMs: { most: 900 },
  otherMs: { most: 5000 },
  memoryMib: { most: 512 },
}

/** Requests of this size are sent first, so that V8 has compiled the code that they run. */
const warmUpBytes = 2 ** 16

/** Writes folders with data for every app, and returns the settings of a server that uses them. */
export function complexitySettings(folder: string): NodeJS.ProcessEnv {
  const { data, settings } = createDataFolders(folder)
  return {
    ...settings,
    CAUSEWAY_DATA_DIR: data,
    CAUSEWAY_HELP_BUILD: 'false',
    CAUSEWAY_RATE_LIMITS: 'off',
    MCP_SERVER_PORT: '0',
  }
}

/** Sends every expensive request once. */
export async function measureComplexity(server: Pick<Program, 'url' | 'pid'>): Promise<Section> {
  const rows: string[][] = []
  for (const attack of attacks) {
    await measureAttack(server, attack, warmUpBytes)
    const cost = await measureAttack(server, attack, attack.bytes ?? attackBytes)
    const { mainMs = Number.NaN, otherMs = Number.NaN, memoryBytes = Number.NaN } = cost
    rows.push([
      attack.name,
      number(cost.sentBytes),
      held(mainMs, attack.isLong ? budgets.longMs : budgets.mainMs),
      held(otherMs, budgets.otherMs),
      number(cost.blockedMs),
      number(cost.totalMs),
      number(cost.answerBytes),
      held(memoryBytes / 2 ** 20, budgets.memoryMib),
    ])
  }
  return {
    title: 'Expensive requests',
    about: `Each request is sent once. Limits: ${budgets.mainMs.most} ms of processor time on the main thread (${budgets.longMs.most} ms in short steps for evaluations of Trm and analyses with large answers), ${budgets.otherMs.most} ms on all other threads, ${budgets.memoryMib.most} MiB of memory growth. \`/health\` is the longest time that another client waited for it; other programs on the machine increase it.`,
    head: [
      'request',
      'bytes',
      'main thread, ms',
      'other threads, ms',
      '/health, ms',
      'total, ms',
      'bytes answered',
      'memory, MiB',
    ],
    rows,
  }
}
