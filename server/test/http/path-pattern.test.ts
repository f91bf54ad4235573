import t from 'tap'
import { matchPath } from '../../src/http/path-pattern.ts'

t.test('path pattern: variables are whole segments, decoded one by one', async (t) => {
  const pattern = '/recordings/{name}/frames/{frame_id}'
  t.same(matchPath(pattern, '/recordings/a%2Fb%20c/frames/7'), { name: 'a/b c', frame_id: '7' })
  t.same(matchPath('/plain', '/plain'), {})
})

t.test('path pattern: what differs, is empty or is no UTF-8 does not fit', async (t) => {
  for (const path of ['/notes', '/notes/1/2', '/other/1', '/notes/', '/notes/%ff', 'notes/1'])
    t.equal(matchPath('/notes/{id}', path), undefined, path)
})
