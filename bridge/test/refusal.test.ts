import t from 'tap'
import { refusesLegacy, refusesModern } from '../src/translate/refusal.ts'

const error = (code: number, data?: object) => ({ error: { code, message: 'm', data } })

t.test('refusals: the numbers of each era, and nothing that may pass or is about the message', async (t) => {
  for (const code of [-32601, -32600, -32000, -32020, -32022])
    t.ok(refusesLegacy(error(code)), `legacy ${code}`)
  for (const code of [-32601, -32600, -32000, -32001]) t.ok(refusesModern(error(code)), `modern ${code}`)
  for (const code of [-32602, -32603, -32700, -32021, 1]) {
    t.notOk(refusesLegacy(error(code)), `legacy ${code}`)
    t.notOk(refusesModern(error(code)), `modern ${code}`)
  }
  t.notOk(refusesModern(error(-32020)), 'only servers of the stateless era know this one')
  t.notOk(refusesLegacy(error(-32000, { code: 'OVERLOADED', retryable: true })))
  t.notOk(refusesModern({ result: {} }))
})

t.test('refusesModern: a version error counts where no version of the era is offered', async (t) => {
  t.ok(refusesModern(error(-32022, { supported: ['2025-11-25'] })))
  t.notOk(refusesModern(error(-32022, { supported: ['2025-11-25', '2026-07-28'] })))
  t.notOk(refusesModern(error(-32022)))
})
