/** Scenes that every engine simulates in the tests. */
import { appendFileSync, writeFileSync } from 'node:fs'

export const dt = 1 / 60
export const gravity = 9.81
export const friction = 0.5
export const density = 2

/** Boxes of 1 m on a floor at height 0, or a model of boxes on hinges. */
export interface EngineScene {
  readonly steps: number
  /** Number of boxes on top of each other. */
  readonly stack?: number
  /** Height of the centre of one box. */
  readonly drop?: number
  /** Initial velocity of the first box along x, in m/s. */
  readonly slide?: number
  /** A base at this height, with two links on hinges in a row along x. */
  readonly model?: { readonly height: number; readonly isFixed: boolean; readonly spin: number }
  /** Step before which the velocity of the last body is multiplied by 1.01. */
  readonly kick?: number
}

/** Half extents in m. */
export const half = { box: 0.5, base: 0.2, link: { long: 0.2, thin: 0.1 } } as const

/** Distances of hinges and link centres from the base. */
export const links = [
  { hinge: 0.3, centre: 0.6, offset: { parent: 0.3, child: -0.3 } },
  { hinge: 0.9, centre: 1.2, offset: { parent: 0.3, child: -0.3 } },
] as const

export interface Engine {
  readonly name: string
  /** A law that can be checked with the engine's contacts. */
  readonly contactLaw: string
  simulate(file: string, scene: EngineScene): void
}

/** Returns the heights of the boxes' centres. Surfaces that rest on each other are `gap` apart. */
export function listHeights({ stack = 0, drop }: EngineScene, gap: number): readonly number[] {
  const heights = Array.from({ length: stack }, (_, i) => half.box + i * (2 * half.box + gap) + gap)
  return drop === undefined ? heights : [...heights, drop]
}

/** Returns a sink that appends to a new file. */
export function openSink(file: string): (bytes: Uint8Array) => void {
  writeFileSync(file, '')
  return (bytes) => appendFileSync(file, bytes)
}
