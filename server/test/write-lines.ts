/** Writes numbered lines of 100 characters to stderr as the server writes its log, and exits as the server does. */
import { StderrWriter } from '../src/log/stderr-writer.ts'

const [, , count = '0', how] = process.argv
const stderr = new StderrWriter()
for (let line = 0; line < Number(count); line++) stderr.write(`${String(line).padEnd(99, '.')}\n`)
if (how === 'exit immediately') process.exit(3)
const canExit = await stderr.close()
process.stdout.write('done', () => {
  if (!canExit) process.kill(process.pid, 'SIGKILL')
  process.exit(0)
})
