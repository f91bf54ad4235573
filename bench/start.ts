import { startProgram } from './program.ts'
import { held, limitText, type Section } from './report.ts'
import { median } from './rounds.ts'

const starts = 5
/** Milliseconds. */
const limit = { most: 900 }

/** Measures the time from starting a server with every app to its first healthy response. */
export async function measureStart(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Section> {
  const times: number[] = []
  for (let count = 0; count < starts; count += 1) {
    const before = performance.now()
    const server = await startProgram(args, env)
    await (await fetch(`${server.url}/health`)).text()
    times.push(performance.now() - before)
    await server.stop()
  }
  return {
    title: 'Start of the server',
    about: `From the start of the process to an answer of /health; ${starts} starts.`,
    head: ['', 'median', 'unit', 'budget'],
    rows: [['server start to healthy, all apps', held(median(times), limit), 'ms', limitText(limit)]],
  }
}
