/** Writes lines of a hundred characters as the server writes its log, says on stdout that it is done, and ends as the server does. */
import { stderrLines } from '../src/stderr-lines.ts'

const [, , count = '0', how] = process.argv
const lines = stderrLines()
for (let line = 0; line < Number(count); line++) lines.write(`${String(line).padEnd(99, '.')}\n`)
if (how === 'at once') process.exit(3)
const canEnd = await lines.close()
process.stdout.write('done', () => {
  if (!canEnd) process.kill(process.pid, 'SIGKILL')
  process.exit(0)
})
