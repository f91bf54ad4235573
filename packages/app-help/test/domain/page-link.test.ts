import t from 'tap'
import { blocks } from '../../src/domain/block.ts'
import { indexText } from '../../src/domain/index-text.ts'
import { pageLinks } from '../../src/domain/page-link.ts'

const links = (body: string, path = 'guide/a.md') => pageLinks(path, body)

t.test(
  'pageLinks: words of the list item or paragraph, with the fragment, for each page that is linked to',
  async (t) => {
    t.same(
      links(
        '# A\n\n- [Hooks](hooks.md#onRequest-hook): run before handlers\n- [Routes](../routes.md)\n\nSee [b](./sub/b.mdx "title").',
      ),
      [
        { to: 'guide/hooks.md', text: 'Hooks: run before handlers onRequest on request hook' },
        { to: 'routes.md', text: 'Routes' },
        { to: 'guide/sub/b.mdx', text: 'See b.' },
      ],
    )
    t.same(
      links('from the root [x](/docs/x.md)').map(({ to }) => to),
      ['docs/x.md'],
    )
  },
)

t.test('pageLinks: of a long paragraph the words of the link alone', async (t) => {
  t.same(links(`${'word '.repeat(200)} [the hooks](hooks.md)`), [{ to: 'guide/hooks.md', text: 'the hooks' }])
})

t.test(
  'pageLinks: no link to itself, out of the source, to another site, to a picture, or in code',
  async (t) => {
    const none = [
      '[self](a.md#x)',
      '[out](../../x.md)',
      '[site](https://example.com/x.md)',
      '[site](//example.com/x.md)',
      '![picture](x.png)',
      '```md\n[code](x.md)\n```',
      '[](x.md)',
    ]
    for (const body of none) t.same(links(body), [], body)
  },
)

t.test(
  'pageLinks: a table, a link that is repeated, and text without an end cost no more than they should',
  async (t) => {
    t.same(links('| page | about |\n| --- | --- |\n| [b](b.md) | bees |\n| [c](c.md) | cats |'), [
      { to: 'guide/b.md', text: 'b bees' },
      { to: 'guide/c.md', text: 'c cats' },
    ])
    t.equal(links('- [b](b.md)\n- [b](b.md)').length, 1)
    t.same(links('['.repeat(20_000)), [])
  },
)

t.test('headings, links and index texts are read in time linear in the length of a line', async (t) => {
  const blanks = ' '.repeat(100_000)
  t.match(blocks([`# a ${blanks} b ##${blanks}`]), [{ kind: 'heading', level: 1 }])
  t.match(blocks(['# a ##', '## #', '#', '#a']), [
    { title: 'a' },
    { title: '#' },
    { title: '' },
    { kind: 'text' },
  ])
  for (const text of ['{/*', '\n\t', '[', '<', '- [a](#', '- ['])
    t.ok(indexText(text.repeat(50_000)).length >= 0)
  t.same(pageLinks('a.md', `[x](b.md#${'#'.repeat(100_000)}`), [])
})
