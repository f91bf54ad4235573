import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { uriTemplate } from '../src/uri-template.ts'

const frame = uriTemplate('replay://recordings/{recording}/frames/{frame_id}')

verifies('wire:resource:template', async (t) => {
  t.same(frame.match('replay://recordings/a%20b.c/frames/7'), { recording: 'a b.c', frame_id: '7' })
  for (const uri of [
    'replay://recordings/a/b/frames/7',
    'replay://recordings//frames/7',
    'replay://recordings/a/frames/7/x',
    'xreplay://recordings/a/frames/7',
    'replay://recordings/%zz/frames/7',
    'replay://recordings/a?b/frames/7',
  ])
    t.equal(frame.match(uri), undefined, uri)
})

t.test('uri template: expands what it matches', async (t) => {
  const variables = { recording: 'a b/c', frame_id: '7' }
  t.equal(frame.expand(variables), 'replay://recordings/a%20b%2Fc/frames/7')
  t.same(frame.match(frame.expand(variables)), variables)
  t.throws(() => frame.expand({ recording: 'a' }), { code: 'INVALID_PARAMS' })
  t.throws(() => frame.expand({ recording: '', frame_id: '1' }), { code: 'INVALID_PARAMS' })
})

t.test('uri template: other characters stand for themselves', async (t) => {
  const dotted = uriTemplate('help://llms.txt')
  t.same(dotted.match('help://llms.txt'), {})
  t.equal(dotted.match('help://llmsxtxt'), undefined)
  t.throws(() => uriTemplate('/no/scheme'), { code: 'INVALID_APP' })
})

t.test('a template does not match a URI of more than 8,192 characters', async (t) => {
  const template = uriTemplate('demo://things/{id}')
  const id = 'x'.repeat(8192 - 'demo://things/'.length)
  t.same(template.match(`demo://things/${id}`), { id })
  t.equal(template.match(`demo://things/${id}x`), undefined)
})
