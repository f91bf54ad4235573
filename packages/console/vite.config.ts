import { defineConfig } from 'vite'

/** Builds the pages that the server serves. Assets are separate files, because the pages may not contain inline code or data URLs. */
export default defineConfig({
  root: import.meta.dirname,
  build: {
    outDir: 'pages',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    reportCompressedSize: false,
    // three.js is one chunk, which only the viewer loads.
    chunkSizeWarningLimit: 800,
  },
})
