/** Checks Python syntax with the interpreter in the server's PATH. Does not run project code. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const timeoutMs = 5000

/** With the flags 0x2400, Python only parses the source, and accepts top-level `await` as notebooks do. */
const script = `import sys
try:
    compile(sys.stdin.buffer.read(), 'source', 'exec', 0x2400)
except SyntaxError:
    print('invalid')
except Exception:
    pass
`

/** Whether Python rejects a source. `false` if there is no interpreter. */
export async function rejectsPython(source: string): Promise<boolean> {
  const pythonProcess = promisify(execFile)('python3', ['-I', '-S', '-W', 'ignore', '-c', script], {
    timeout: timeoutMs,
  })
  // An interpreter that exits early does not read its input.
  pythonProcess.child.stdin?.on('error', () => undefined)
  pythonProcess.child.stdin?.end(source)
  return pythonProcess.then(
    ({ stdout }) => stdout.trim() === 'invalid',
    () => false,
  )
}
