// cspell:ignore linenos pycon toctree versionadded -- directives of reStructuredText
import { verifies } from '../../../test/verifies.ts'
import { convertRst } from '../src/sources/rst.ts'
import { library, listPaths } from './help-kit.ts'

const page = `.. SPDX comment
   of two lines

.. |name| replace:: Widget

.. _top_label:

=======
Gauges
=======

Draws |name| with :class:\`~gauge.Dial\`, see :doc:\`the guide <guide/zoom>\` and :ref:\`limits <limit>\`.
A \`site <https://example.org>\`_ and \`\`code\`\`::

    dial = Dial(1)
      .turn()

Zooming
-------

.. versionadded:: 2.1
   Pinch to *magnify*.

.. note::

   Long texts
   are cut.

   .. code-block:: python
      :linenos:

      zoom(2)

.. function:: zoom(factor, speed=1)

   Magnifies.

   :param factor: how much

.. raw:: html

   <script>hidden</script>

Details
~~~~~~~

======  =====
option  unit
======  =====
speed   m/s
======  =====

>>> zoom(3)
3

# not a heading

Turning
-------
.. toctree::
   :maxdepth: 2

   Start here <intro/start>
   api
`

verifies('help:source:rst', 'convertRst converts headings, labels, code and directives', async (t) => {
  t.equal(
    convertRst(page),
    `# Gauges {#top-label}

Draws Widget with \`Dial\`, see [the guide](guide/zoom.rst) and limits.
A [site](https://example.org) and \`code\`:

\`\`\`
dial = Dial(1)
  .turn()
\`\`\`

## Zooming

Added in version 2.1

Pinch to *magnify*.

Note:

Long texts
are cut.

\`\`\`python
zoom(2)
\`\`\`

\`zoom(factor, speed=1)\`

Magnifies.

- factor: how much

### Details

option  unit

speed   m/s

\`\`\`pycon
>>> zoom(3)
3
\`\`\`

\\# not a heading

## Turning

- [Start here](intro/start.rst)
- [api](api.rst)
`.replace('- factor', '- param factor'),
  )
})

verifies('help:source:rst', 'convertRst takes less than 10 s for hostile pages', async (t) => {
  const before = process.cpuUsage()
  const parts = [
    '..\n',
    '.. a::\n ',
    '`',
    '` ',
    ' ',
    ':a',
    ':a:`',
    '::\n\n ',
    '|a',
    '==\n',
    '.. _a:',
    '+-',
    '\n',
    '` <',
  ]
  for (const part of parts) convertRst(part.repeat(200_000 / part.length))
  let nested = ''
  for (let depth = 0; depth < 600; depth++) nested += `${' '.repeat(depth)}.. note::\n\n`
  t.match(convertRst(`${nested}${' '.repeat(600)}end`), 'end')
  t.ok(process.cpuUsage(before).user < 10e6, 'less than 10 s of processor time')
})

verifies('help:source:rst', 'the reStructuredText pages of a folder can be searched', async (t) => {
  const { build, ask } = library(t, {
    'docs/gauge.rst': page,
    'docs/index.rst': 'Index\n=====\n\n.. toctree::\n\n   gauge\n',
  })
  t.match(await build(), { added: 2, failed: [] })
  const found = await ask('how to magnify by a pinch')
  t.equal(listPaths(found)[0], 'docs/gauge.rst')
  t.match(found.results[0], { title: 'Gauges', chunks: [{ anchor: 'top-label' }] })
})
