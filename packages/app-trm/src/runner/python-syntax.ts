/** Checks the syntax of Python with the interpreter in the PATH of the server. No code of a project runs. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const timeoutMs = 5000

/** 0x2400: only parses, and accepts `await` at the top level as notebooks do. */
const script = `import sys
try:
    compile(sys.stdin.buffer.read(), 'source', 'exec', 0x2400)
except SyntaxError:
    print('invalid')
except Exception:
    pass
`

/** Whether Python rejects a source; false without an interpreter. */
export async function rejectsPython(source: string): Promise<boolean> {
  const running = promisify(execFile)('python3', ['-I', '-S', '-W', 'ignore', '-c', script], {
    timeout: timeoutMs,
  })
  // An interpreter that ends early does not read its input.
  running.child.stdin?.on('error', () => undefined)
  running.child.stdin?.end(source)
  return running.then(
    ({ stdout }) => stdout.trim() === 'invalid',
    () => false,
  )
}
