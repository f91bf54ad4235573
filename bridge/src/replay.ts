import type { Readable, Writable } from 'node:stream'
import { asCausewayError, type Request } from '@causeway/protocol'
import { errorLine } from './answer.ts'
import { LineSplitter } from './lines.ts'
import { type Line, readLine } from './message.ts'
import { createOutput } from './output.ts'
import { parsed } from './parsed.ts'
import type { Traffic } from './traffic.ts'

/** Answers a client from recorded traffic until its input ends; no server is asked. Notifications are swallowed. */
export async function replayTraffic(traffic: Traffic, stdin: Readable, stdout: Writable): Promise<void> {
  const output = createOutput(stdout, () => stdin.destroy())
  const lines = new LineSplitter()

  const take = (line: Line): void => {
    if (line.type === 'rejected') output.write(errorLine(line.rejection.id, line.rejection.error))
    else for (const message of line.type === 'batch' ? line.messages : [line.message]) answer(message.bytes)
  }
  const answer = (bytes: Buffer): void => {
    const request = parsed(bytes) as Request
    if (request.method === undefined || request.id === undefined) return
    try {
      output.write(Buffer.from(JSON.stringify(traffic.answer(request))))
    } catch (error) {
      output.write(errorLine(request.id, asCausewayError(error)))
    }
  }

  await new Promise<void>((resolve) => {
    stdin.on('data', (chunk: Buffer) => {
      for (const line of lines.push(chunk)) readLine(line).forEach(take)
    })
    stdin.once('end', () => {
      for (const line of lines.end()) readLine(line).forEach(take)
    })
    stdin.once('close', resolve)
  })
  await output.flushed()
}
