import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { defaultSize } from '../../src/domain/chunk.ts'
import { readPage, sectionOf, titleOfPath } from '../../src/domain/page.ts'

const page = (body: string, file_path = 'a.md', source = 'docs') =>
  readPage({ body, file_path, source, is_internal: false }, defaultSize)

verifies('help:page:front-matter', async (t) => {
  const read = page(
    '---\ntitle: "A title"\nsection: Guides\nlang: JA\ninternal: true\n---\n# Heading\n\ntext',
  )
  t.match(read, { title: 'A title', section: 'Guides', language: 'ja', is_internal: true })
  t.equal(read.chunks[0]?.start_line, 7, 'lines are those of the file')
})

verifies('help:page:front-matter', 'what cannot be read is skipped', async (t) => {
  t.match(page('---\ntitle: [torn\n---\n# Heading'), { title: 'Heading', is_internal: false })
  t.match(page('---\nno end'), { title: 'A' })
  t.match(page('---\na: &a [*a]\n---\n# H'), { title: 'H' })
})

t.test('readPage: the first heading of level 1, any heading, or the path', async (t) => {
  t.equal(page('## Second\n\n# First').title, 'First')
  t.equal(page('<h1>Html</h1>\n\n## Hooks').title, 'Hooks')
  t.equal(page('text', 'guides/getting-started.md').title, 'Guides - Getting Started')
})

t.test('sectionOf: the first folder, packages by name, overview and updates', async (t) => {
  t.equal(sectionOf('docs', 'user-guide/a/b.md'), 'User Guide')
  t.equal(sectionOf('pkg:fastify', 'docs/Reference/Hooks.md'), 'Fastify Reference')
  t.equal(sectionOf('docs', 'README.md'), 'Overview')
  t.equal(sectionOf('docs', 'CHANGELOG.md'), 'Updates')
  t.equal(sectionOf('docs', 'other.md'), 'General')
  t.equal(titleOfPath('a_b.md'), 'A B')
})

verifies('help:page:language', async (t) => {
  t.equal(page('text', 'ja/a.md').language, 'ja')
  t.equal(page('# ログの設定\n\nログレベルを変更するには設定ファイルを編集します。').language, 'ja')
  t.equal(page('# 配置\n\n请求体的大小可以在配置文件中修改。').language, 'zh')
  t.equal(page('# 설정\n\n서버를 시작하려면 설정 파일을 편집합니다.').language, 'ko')
  t.equal(page('# Text\n\nMostly English with 一 character.').language, 'en')
})
