import t from 'tap'
import { chain, type Stage } from '../src/stage.ts'

const mark =
  (name: string): Stage =>
  ({ toServer, toClient }) => ({
    toServer: (line) => toServer(Buffer.from(`${line}>${name}`)),
    toClient: (json) => toClient(Buffer.from(`${json}<${name}`)),
  })

t.test('chain: the first stage is nearest to the client, in both directions', async (t) => {
  const seen: string[] = []
  const ends = chain([mark('a'), mark('b')], {
    toServer: (line) => seen.push(`server ${line}`),
    toClient: (json) => seen.push(`client ${json}`),
  })
  ends.toServer(Buffer.from('x'))
  ends.toClient(Buffer.from('y'))
  t.same(seen, ['server x>a>b', 'client y<b<a'])
})

t.test('chain: a stage may answer for the server, and only stages before it see the answer', async (t) => {
  const seen: string[] = []
  const answering: Stage = ({ toServer, toClient }) => ({
    toServer: (line) => toClient(Buffer.from(`no ${line}`)),
    toClient: (json) => toServer(Buffer.from(`more ${json}`)),
  })
  const ends = chain([mark('a'), answering, mark('b')], {
    toServer: (line) => seen.push(`server ${line}`),
    toClient: (json) => seen.push(`client ${json}`),
  })
  ends.toServer(Buffer.from('x'))
  ends.toClient(Buffer.from('y'))
  t.same(seen, ['client no x>a<a', 'server more y<b>b'])
})

t.test('chain: without stages the ends are the neighbours', async (t) => {
  const ends = { toServer: () => {}, toClient: () => {} }
  t.same(chain([], ends), ends)
})
