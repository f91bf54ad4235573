import { defaultClientConditions, defineConfig, type EnvironmentOptions, type Plugin } from 'vite'

/** Pages of MCP Apps. Each is built as one file. */
const widgets = ['series', 'scene', 'map', 'decision']

const common = {
  target: 'es2023',
  modulePreload: { polyfill: false },
  reportCompressedSize: false,
  // three.js is one chunk, which only the viewer loads.
  chunkSizeWarningLimit: 800,
} as const

/**
 * Builds the pages that the server serves, and the widgets for MCP Apps. Assets of pages are separate files, because
 * pages must not contain inline code or data URLs. A widget contains everything, because its host does not allow it
 * to load anything.
 */
export default defineConfig({
  root: import.meta.dirname,
  resolve: { conditions: ['@causeway/source', ...defaultClientConditions] },
  build: { ...common, outDir: 'pages', emptyOutDir: true, assetsInlineLimit: 0 },
  environments: Object.fromEntries(widgets.map((name) => [name, createWidgetEnvironment(name)])),
  builder: {
    async buildApp({ build, environments: { client, ...others } }) {
      if (client !== undefined) await build(client)
      for (const name of widgets) if (others[name] !== undefined) await build(others[name])
    },
  },
  plugins: [inlineWidget()],
})

function createWidgetEnvironment(name: string): EnvironmentOptions {
  return {
    consumer: 'client',
    build: {
      ...common,
      outDir: 'pages/widgets',
      emptyOutDir: false,
      copyPublicDir: false,
      assetsInlineLimit: 1_000_000,
      cssCodeSplit: false,
      rolldownOptions: { input: `src/widgets/${name}.tsx`, output: { codeSplitting: false } },
    },
  }
}

function inlineWidget(): Plugin {
  return {
    name: 'inline-widget',
    enforce: 'post',
    applyToEnvironment: ({ name }) => widgets.includes(name),
    generateBundle(_options, bundle) {
      const parts = Object.entries(bundle).map(([file, part]) => {
        delete bundle[file]
        return part.type === 'chunk' ? { script: part.code } : { style: String(part.source) }
      })
      const script = parts.map((part) => part.script ?? '').join('')
      const style = parts.map((part) => part.style ?? '').join('')
      this.emitFile({
        type: 'asset',
        fileName: `${this.environment.name}.html`,
        source: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Causeway</title>
<style>${style.replaceAll('</style', '<\\/style')}</style>
<body></body>
<script type="module">${script.replaceAll('</script', '<\\/script')}</script>
</html>
`,
      })
    },
  }
}
