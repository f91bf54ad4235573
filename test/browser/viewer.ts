/** Creates recordings for the viewer, and reads what it shows in Chromium. */
import type { Page } from 'playwright-core'
import { nextFrame } from './browser.ts'

/** Waits until the page shows and draws a frame. Returns the text with frame and time. */
export async function showsFrame(page: Page, frame: number): Promise<string> {
  const readout = page.locator('[data-frame]', { hasText: `Frame ${frame} ` })
  const text = await readout.innerText()
  await page.evaluate(nextFrame)
  return text
}

/**
 * Returns the number of different colours in the scene. A scene without bodies has only those of the background and
 * the grid.
 */
export const countColors = (page: Page): Promise<number> =>
  page.evaluate<number>(`(() => {
    const source = document.querySelector('.stage canvas')
    const copy = document.createElement('canvas')
    copy.width = source.width
    copy.height = source.height
    const context = copy.getContext('2d')
    context.drawImage(source, 0, 0)
    const { data } = context.getImageData(0, 0, copy.width, copy.height)
    const colors = new Set()
    for (let at = 0; at < data.length; at += 4) colors.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2])
    return colors.size
  })()`)

/**
 * Returns the number of pixels of a canvas that have a colour of the theme or, if `token` is null, a different
 * colour than the first pixel.
 */
export const countPixels = (
  page: Page,
  selector: string,
  token: string | null,
  width?: number,
): Promise<number> =>
  page.evaluate<number>(`(() => {
    const source = document.querySelector(${JSON.stringify(selector)})
    const probe = document.body.appendChild(document.createElement('span'))
    probe.style.color = 'var(--${token})'
    const color = getComputedStyle(probe).color.match(/\\d+/g).map(Number)
    probe.remove()
    const copy = Object.assign(document.createElement('canvas'), { width: source.width, height: source.height })
    const context = copy.getContext('2d')
    context.drawImage(source, 0, 0)
    const { data } = context.getImageData(0, 0, ${width ?? 'copy.width'}, copy.height)
    const wanted = ${token === null} ? [...data.slice(0, 3)] : color
    let count = 0
    for (let at = 0; at < data.length; at += 4)
      if (wanted.every((value, channel) => data[at + channel] === value)) count++
    return ${token === null} ? data.length / 4 - count : count
  })()`)

/** Returns horizontal positions on the page, in px. */
export const measure = (page: Page): Promise<{ lane: [number, number]; cursors: number[] }> =>
  page.evaluate(`(() => {
    const box = (element) => element.getBoundingClientRect()
    const lane = box(document.querySelector('.lane'))
    const cursors = [...document.querySelectorAll('.plot-cursor')].map((element) => box(element).left)
    return { lane: [lane.left, lane.width], cursors }
  })()`)

/** Returns a run of one falling body, whose name may be markup. */
export function createRun(name: string, first = 1, count = 3): string {
  const lines = [
    { run: { bodies: [{ id: 1, mass: 1, name, shape: { kind: 'sphere', radius: 0.5 } }], dt: 0.01 } },
    ...Array.from({ length: count }, (_, index) => first + index).map((frame_id) => ({
      frame_id,
      time: frame_id * 0.01,
      bodies: [
        {
          id: 1,
          position: [0, 0, 5 - 0.00049 * frame_id ** 2],
          velocity: [0, 0, -0.0981 * frame_id],
          orientation: [1, 0, 0, 0],
          angular_velocity: [0, 0, 0],
        },
      ],
    })),
  ]
  return lines.map((line) => JSON.stringify(line)).join('\n')
}
