import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { type AnimationFrame, joinAnimation } from './animation.ts'

const size = { width: 1200, height: 750 }
/** Of the animation, in which every frame counts. */
const animationSize = { width: 960, height: 600 }

/** Pages by the name of their picture, with an element that shows that they are complete. */
const pages = [
  {
    ...{ file: 'console-viewer.png', path: '/replay/slide_at_45#frame=45&body=1' },
    ...{ shows: 'text=2500 N friction', height: size.height },
  },
  {
    ...{ file: 'console-plot.png', path: '/debrief/plots/gibraltar.plot.json' },
    ...{ shows: '[data-land]', height: size.height },
  },
  // Text needs many bytes: fewer rows.
  { file: 'console-traffic.png', path: '/traffic', shows: 'tbody tr:not(.spacer)', height: 600 },
]

/** Takes pictures of the console of a server, and an animation of its viewer. */
export async function captureConsole(
  url: string,
  { target, program }: { readonly target: string; readonly program: string },
): Promise<void> {
  const args = ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader']
  const browser = await chromium.launch({ executablePath: program, args })
  try {
    const page = await browser.newPage({ viewport: size, colorScheme: 'light', reducedMotion: 'reduce' })
    for (const { file, path, shows, height } of pages) {
      await page.setViewportSize({ ...size, height })
      await openPage(page, `${url}${path}`)
      await page.locator(shows).first().waitFor()
      await page.screenshot({ path: join(target, file) })
      process.stdout.write(`${join(target, file)}\n`)
    }
    await page.setViewportSize(size)
    const frames = await playStory(page, url)
    const file = join(target, 'console.webp')
    writeFileSync(file, joinAnimation(frames, animationSize))
    process.stdout.write(`${file}\n`)
  } finally {
    await browser.close()
  }
}

async function openPage(page: Page, url: string): Promise<void> {
  await page.goto('about:blank')
  await page.goto(url)
  await page.waitForSelector('main h1')
  await page.waitForSelector('[data-loading]', { state: 'detached' })
}

/** A recording is chosen, its first finding is opened, and the frames around it are played. */
async function playStory(page: Page, url: string): Promise<readonly AnimationFrame[]> {
  const frames: AnimationFrame[] = []
  const take = async (ms: number): Promise<void> => {
    frames.push({ webp: await takeWebp(page), ms })
  }
  await openPage(page, `${url}/replay`)
  const link = page.getByRole('link', { name: 'slide_at_45', exact: true })
  await link.hover()
  await take(1500)
  await link.click()
  await page.locator('.finding').first().waitFor()
  await page.waitForSelector('[data-loading]', { state: 'detached' })
  await take(1500)
  await page.locator('.finding').first().click()
  await showFrame(page)
  await take(2500)
  await page.keyboard.press('Home')
  await showFrame(page)
  for (let step = 0; step < 14; step++) {
    await take(step === 0 ? 600 : 260)
    await page.locator('.scrubber').fill(String(1 + (step + 1) * 8))
    await showFrame(page)
  }
  await take(1500)
  return frames
}

/** Waits until values and contacts of the frame are shown. */
async function showFrame(page: Page): Promise<void> {
  const [, shown = ''] = /Frame (\d+)/.exec(await page.locator('[data-frame]').innerText()) ?? []
  const facts = page.locator('.facts dd').filter({ hasText: new RegExp(`^${shown} at`) })
  await facts.waitFor()
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
}

/** Chromium encodes WebP in a canvas only. */
async function takeWebp(page: Page): Promise<Buffer> {
  const png = (await page.screenshot()).toString('base64')
  const data = await page.evaluate<string>(`(async () => {
    const image = new Image()
    image.src = 'data:image/png;base64,${png}'
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = ${animationSize.width}
    canvas.height = ${animationSize.height}
    const context = canvas.getContext('2d')
    context.imageSmoothingQuality = 'high'
    context.drawImage(image, 0, 0, canvas.width, canvas.height)
    return canvas.toDataURL('image/webp', 0.6).split(',')[1]
  })()`)
  return Buffer.from(data, 'base64')
}
