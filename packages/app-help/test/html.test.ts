import { verifies } from '../../../test/verifies.ts'
import { convertHtml } from '../src/sources/html.ts'
import { library, listPaths } from './help-kit.ts'

const page = `<!DOCTYPE html><html><head><title>Widget &amp; gauge</title><style>p { color: red }</style></head>
<body><nav><a href="/">Home</a></nav><main>
<h2 id="zoom">Zooming<a href="#zoom">¶</a></h2>
<p>A pinch &lt;magnifies&gt; the
  <code>gauge</code>&#46;</p>
<ul><li>first</li><li>second</li></ul>
<pre><code>const a = 1 &lt; 2
  call("a > b")</code></pre>
<table><tr><th>name</th><td>unit</td></tr></table><img alt="A dial" src="a.png">
<script>if (a < b) document.write('<p>hidden</p>')</script>
</main><footer>Imprint</footer></body></html>`

verifies('help:source:html', 'converts the content of a page', async (t) => {
  t.equal(
    convertHtml(page),
    [
      '# Widget & gauge',
      '## Zooming {#zoom}',
      'A pinch <magnifies> the `gauge`.',
      '- first\n- second',
      '```\nconst a = 1 < 2\n  call("a > b")\n```',
      '| name | unit |',
      'A dial\n',
    ].join('\n\n'),
  )
  t.equal(convertHtml('plain < text'), 'plain < text\n')
  t.equal(convertHtml('<p>one<!-- no > end'), 'one\n')
  t.equal(convertHtml('<h1 title="a > b">Deep</h1><p>&#x110000;&unknown;'), '# Deep\n\n\ufffd&unknown;\n')
})

verifies('help:source:html', 'hostile pages take linear time', async (t) => {
  const before = process.cpuUsage()
  for (const part of ['<', '<a "', '<a href="', '<!--', '<script>', '<nav>', '&#', '<h1>', '<pre>', '</'])
    convertHtml(part.repeat(200_000 / part.length))
  t.ok(process.cpuUsage(before).user < 10e6, 'less than 10 s of processor time')
})

verifies('help:source:html', 'a folder without Markdown is searched by its HTML files', async (t) => {
  const site = library(t, {
    'docs/guide/zoom.html': page,
    'docs/old.htm': '<h1>Legacy</h1><p>Retired dials.',
  })
  t.match(await site.build(), { added: 2, failed: [] })
  const { results } = await site.ask('magnifies the gauge')
  t.match(results, [{ file_path: 'guide/zoom.html', title: 'Widget & gauge' }])
  site.write({ 'docs/readme.md': '# Readme\n\nThe source of the site.' })
  t.match(await site.build(), { added: 1, removed: 2 }, 'with Markdown, HTML files are output')
  t.same(listPaths(await site.ask('readme')), ['docs/readme.md'])
})
