import { type BodyId, energyAt, jointAt, solverAt, stateAt, systemAt } from '@causeway/recording'
import type { LawName } from '../laws/laws.ts'
import { hasAllParts, hasMoverOfUnknownMass } from '../laws/motion/budget-law.ts'
import { hasJointError } from '../laws/motion/joint-law.ts'
import { toSolid } from '../shapes/solid.ts'
import { getOffset, num } from '../steps/block.ts'
import type { MovingSurfaces } from '../steps/motion.ts'
import { type BodyGroup, getImpulseFactor, isEnvironment, type Scene } from '../steps/scene.ts'
import { hasConstraints } from '../steps/solver-stall.ts'
import { impulseKnowledge, type Step } from '../steps/step.ts'
import type { Touch } from '../steps/touch.ts'
import { measureTurning, measureTurningAlong } from '../steps/turning.ts'
import { describeCoarseData, describeDrivenEnergy, describeMovingSurfaces } from './coarse-data.ts'
import { dataNeeds, listNeeds, needBits, toMask } from './data-need.ts'
import { type CheckedLaw, type LawEntry, type LawPart, type LawScope, lawTable } from './law-table.ts'

export interface NotChecked {
  readonly law: CheckedLaw
  readonly frames: { readonly first: number | null; readonly last: number | null }
  /** Unchecked bodies, if others were checked. */
  readonly bodies?: readonly BodyId[]
  readonly missing: readonly string[]
  readonly how_to_record: string
}

export interface Coverage {
  readonly checked: readonly CheckedLaw[]
  /** Laws that do not apply to any frame. */
  readonly not_applicable: readonly CheckedLaw[]
  readonly not_checked: readonly NotChecked[]
}

/** Frames with the same missing data. */
interface Group {
  readonly mask: number
  readonly first: number
  last: number
  readonly columns: Set<number>
}

/** Frames to which a part of a law applies, with and without the required data. */
interface JudgedPart {
  readonly judgedGroups: readonly Group[]
  readonly incompleteGroups: readonly { readonly group: Group; readonly missing: number }[]
}

const stateNeeds = [
  [stateAt.position, needBits.positions],
  [stateAt.velocity, needBits.velocities],
  [stateAt.orientation, needBits.orientations],
  [stateAt.spin, needBits.spins],
] as const

const withoutContacts = toMask(['contacts', 'normals', 'depths', 'leverArms'])

export class CoverageCollector {
  readonly #scene: Scene
  readonly #groups: Readonly<Record<LawScope, Map<number, Group>>> = {
    frame: new Map(),
    body: new Map(),
    contactless: new Map(),
    free: new Map(),
    touching: new Map(),
    pair: new Map(),
    isolatedPair: new Map(),
    sharedPair: new Map(),
    joint: new Map(),
    freeGroup: new Map(),
    touchingGroup: new Map(),
  }
  readonly #constantMasks: Int32Array
  /** By column: data missing for contacts, for the body in the previous frame (-1 if absent), and for the body. */
  readonly #touchMasks: Int32Array
  readonly #previousMasks: Int32Array
  readonly #bodyMasks: Int32Array
  /** Whether every environment body has a shape and a pose. */
  readonly #hasEnvironment: boolean
  #surfaces: MovingSurfaces | undefined
  #hasForces = false
  #frames = 0
  #frameSpan: NotChecked['frames'] = { first: null, last: null }

  constructor(scene: Scene) {
    this.#scene = scene
    const environment = [...scene.geometry.keys()].filter((id) => isEnvironment(scene, id))
    this.#hasEnvironment =
      scene.environment.every((id) => environment.includes(id)) &&
      environment.every((id) => hasSolid(scene, id) && scene.geometry.get(id)?.position != null)
    const count = scene.bodies.length
    this.#touchMasks = new Int32Array(count)
    this.#previousMasks = new Int32Array(count).fill(-1)
    this.#bodyMasks = new Int32Array(count)
    this.#constantMasks = Int32Array.from(scene.bodies, (_, column) => {
      const mass = num(scene.masses, column)
      return (
        (mass > 0 ? 0 : needBits.masses) |
        (scene.extents[column] === undefined ? needBits.shapes : 0) |
        (scene.inertias[column] === undefined ? needBits.inertia : 0) |
        (hasSolid(scene, scene.bodies[column]) ? 0 : needBits.solids)
      )
    })
  }

  observe(step: Step): void {
    const { scene, window, row, frame, touches, touching } = step
    const frameMask = this.#findMissingFrameData(step)
    this.#frames += 1
    this.#surfaces = step.surfaces
    this.#hasForces ||= step.hasExternal.includes(1)
    this.#frameSpan = { first: this.#frameSpan.first ?? frame, last: frame }
    const isComplete = (frameMask & needBits.systemEnergy) !== 0 || hasAllParts(step)
    const isDriven = !isComplete && hasMoverOfUnknownMass(step)
    const energyMask = isComplete ? 0 : isDriven ? needBits.masses : needBits.inertia
    const jointMask = step.joints.isIncomplete ? needBits.jointImpulses : 0
    this.#add('frame', frameMask | energyMask | jointMask, frame, -1)
    this.#addJoints(step, frameMask)
    this.#touchMasks.fill(0)
    for (const touch of touches) this.#addTouch(step, touch, frameMask)
    const count = scene.bodies.length
    for (let column = 0; column < count; column++) {
      if (window.present[row * count + column] === 0) {
        this.#previousMasks[column] = -1
        continue
      }
      const bodyMask = frameMask | num32(this.#constantMasks, column) | findMissingBodyData(step, column)
      const jointMask = step.joints.isTorqueKnown[column] === 0 ? needBits.jointImpulses : 0
      const before = num32(this.#previousMasks, column)
      const mask = bodyMask | (before === -1 ? needBits.previous : before)
      this.#previousMasks[column] = bodyMask & ~needBits.previous
      this.#add('body', mask, frame, column)
      if (!scene.hasContacts) this.#add('contactless', mask, frame, column)
      this.#bodyMasks[column] = mask
      if (!scene.hasContacts || touching[column] === 0) this.#add('free', mask | jointMask, frame, column)
      if (!scene.hasContacts || touching[column] === 1) {
        const contactMask = this.#findMissingContactData(step, column)
        this.#bodyMasks[column] = mask | contactMask
        this.#add('touching', mask | contactMask | jointMask, frame, column)
      }
    }
    for (const [index, group] of scene.groups.entries()) this.#addGroup(step, index, group)
    if (!scene.hasContacts) this.#add('pair', frameMask, frame, -1)
  }

  summarize(modules: readonly LawName[]): Coverage {
    const checked: CheckedLaw[] = []
    const not_applicable: CheckedLaw[] = []
    const not_checked: NotChecked[] = []
    for (const name of Object.keys(lawTable) as CheckedLaw[]) {
      const law: LawEntry = lawTable[name]
      if (!modules.includes(law.by)) continue
      const { isChecked, notChecked } = this.#judge(name, law)
      const { surfaceVelocities } = this.#scene
      const unjudgedReason = isChecked
        ? (describeCoarseData(name, this.#scene) ?? describeDrivenEnergy(name, this.#scene, this.#hasForces))
        : undefined
      if (unjudgedReason !== undefined) {
        not_checked.push({ law: name, frames: this.#frameSpan, ...unjudgedReason })
        continue
      }
      const surfaces = describeMovingSurfaces(name, this.#surfaces?.all ?? [], surfaceVelocities)
      not_checked.push(...surfaces)
      // A moving surface affects the whole energy budget, but only some bodies in other laws.
      const isJudged = isChecked && (name !== 'energy_budget' || surfaces.length === 0)
      if (isJudged) checked.push(name)
      if (notChecked !== null) not_checked.push(notChecked)
      else if (!isChecked) not_applicable.push(name)
    }
    return { checked, not_applicable, not_checked }
  }

  #judge(
    name: CheckedLaw,
    { parts }: LawEntry,
  ): { readonly isChecked: boolean; readonly notChecked: NotChecked | null } {
    if (this.#frames === 0)
      return { isChecked: false, notChecked: describeMissingData(name, needBits.frames, [], []) }
    const judgedParts = parts.map((part) => this.#judgePart(part))
    const judgedGroups = judgedParts.flatMap((part) => part.judgedGroups)
    const incompleteGroups = judgedParts.flatMap((part) => part.incompleteGroups)
    const isChecked = judgedGroups.length > 0
    if (incompleteGroups.length === 0) return { isChecked, notChecked: null }
    const mask = incompleteGroups.reduce((sum, incomplete) => sum | incomplete.missing, 0)
    const otherMask = mask & ~needBits.previous
    const columns = new Set(incompleteGroups.flatMap((incomplete) => [...incomplete.group.columns]))
    const isPartial = judgedGroups.some((group) => [...group.columns].some((column) => !columns.has(column)))
    const bodies = isPartial ? [...columns].map((column) => this.#scene.bodies[column] ?? 0) : []
    const groups = incompleteGroups.map(({ group }) => group)
    return {
      isChecked,
      notChecked: describeMissingData(name, otherMask === 0 ? mask : otherMask, groups, bodies),
    }
  }

  #judgePart({ scope, needs }: LawPart): JudgedPart {
    const requiredMask = toMask(needs)
    const groups = [...this.#groups[scope].values()]
    const judgedGroups = groups.filter(({ mask }) => (mask & requiredMask) === 0)
    const incompleteGroups = groups
      .filter(({ mask }) => (mask & requiredMask) !== 0)
      .map((group) => ({ group, missing: group.mask & requiredMask }))
    // The first frame of a range or body lacks only its previous frame.
    const otherGroups = incompleteGroups.filter(({ missing }) => missing !== needBits.previous)
    const lacksOnlyPrevious = judgedGroups.length === 0 && otherGroups.length === 0
    return { judgedGroups, incompleteGroups: lacksOnlyPrevious ? incompleteGroups : otherGroups }
  }

  #findMissingFrameData(step: Step): number {
    const { scene, window, row, frame, dt, recordedDt } = step
    const isConsecutive = row > 0 && window.frames[row - 1] === frame - 1 && step.breach === null
    const system = num(window.system.data, row * systemAt.width + systemAt.total)
    const solver = row * solverAt.width
    const iterations = num(window.solver.data, solver + solverAt.iterations)
    return (
      (isConsecutive ? 0 : needBits.previous) |
      (isConsecutive && Number.isNaN(recordedDt) ? needBits.times : 0) |
      (Number.isNaN(scene.g) ? needBits.gravity : 0) |
      (scene.hasContacts ? 0 : withoutContacts) |
      (scene.hasSubsteps && scene.hasContacts ? needBits.wholeSteps : 0) |
      (this.#hasEnvironment ? 0 : needBits.environmentSolids) |
      (Number.isNaN(getImpulseFactor(scene, dt || 1)) ? needBits.impulseUnit : 0) |
      (Number.isNaN(system) ? needBits.systemEnergy : 0) |
      (Number.isNaN(num(window.solver.data, solver + solverAt.converged)) ? needBits.solver : 0) |
      (iterations > 0 && !scene.hasContacts && !hasConstraints(step) ? needBits.constraints : 0)
    )
  }

  /** Adds the bodies of joint rows. Without rows, all bodies of groups lack joint errors. */
  #addJoints(step: Step, frameMask: number): void {
    const { window, row, frame, scene, joints } = step
    const { offset, data } = window.joints
    const [from, to] = [offset[row] ?? 0, offset[row + 1] ?? 0]
    for (let i = from; i < to; i++) {
      const at = i * jointAt.width
      const mask = hasJointError(step, at) ? 0 : needBits.jointErrors
      for (const end of [jointAt.a, jointAt.b]) {
        const column = scene.columnById.get(num(data.data, at + end))
        if (column !== undefined) this.#add('joint', frameMask | mask, frame, column)
      }
    }
    if (from === to && joints.isIncomplete)
      for (const { columns } of scene.groups)
        for (const column of columns) this.#add('joint', frameMask | needBits.jointErrors, frame, column)
  }

  #addGroup(
    { scene, window, row, frame, touching, joints }: Step,
    index: number,
    { columns }: BodyGroup,
  ): void {
    if (columns.every((column) => joints.isKnown[column] === 1)) return
    const count = scene.bodies.length
    let mask = joints.isGroupKnown[index] === 1 ? 0 : needBits.jointImpulses
    for (const column of columns) {
      if (window.present[row * count + column] === 0) mask |= needBits.velocities
      else mask |= num32(this.#bodyMasks, column)
    }
    const isTouching = columns.some((column) => touching[column] === 1)
    for (const column of columns) {
      if (!scene.hasContacts || !isTouching) this.#add('freeGroup', mask, frame, column)
      if (!scene.hasContacts || isTouching) this.#add('touchingGroup', mask, frame, column)
    }
  }

  #findMissingContactData({ impulseKnown }: Step, column: number): number {
    const mask = num32(this.#touchMasks, column)
    const isUnknown = impulseKnown[column] === impulseKnowledge.none
    const isTangential =
      (mask & (needBits.tangentImpulses | needBits.normalImpulses)) === needBits.tangentImpulses
    return isUnknown && isTangential ? mask | needBits.oneNormal : mask
  }

  #addTouch(step: Step, touch: Touch, frameMask: number): void {
    // Lever arms can be derived from the poses before the step.
    const derivedNeeds = (frameMask & needBits.previous) === 0 ? 0 : needBits.leverArms
    const mask = (findMissingTouchData(touch) & ~derivedNeeds) | findMissingMotionData(step, touch)
    let pairMask = frameMask | mask
    for (const column of [touch.columnA, touch.columnB]) {
      if (column < 0) continue
      this.#touchMasks[column] = num32(this.#touchMasks, column) | mask
      pairMask |= num32(this.#constantMasks, column) | findMissingBodyData(step, column)
      if (step.joints.isTorqueKnown[column] === 0) pairMask |= needBits.jointImpulses
    }
    this.#add('pair', pairMask, step.frame, touch.columnA)
    if (touch.columnA < 0 || touch.columnB < 0) return
    const isIsolated = num(step.partners, touch.columnA) === 1 && num(step.partners, touch.columnB) === 1
    this.#add(isIsolated ? 'isolatedPair' : 'sharedPair', pairMask, step.frame, touch.columnA)
  }

  #add(scope: LawScope, mask: number, frame: number, column: number): void {
    const groups = this.#groups[scope]
    let group = groups.get(mask)
    if (group === undefined) {
      group = { mask, first: frame, last: frame, columns: new Set() }
      groups.set(mask, group)
    }
    group.last = frame
    if (column >= 0) group.columns.add(column)
  }
}

function hasSolid({ geometry }: Scene, body: BodyId | undefined): boolean {
  const bodyGeometry = body === undefined ? undefined : geometry.get(body)
  return bodyGeometry !== undefined && toSolid(bodyGeometry) !== undefined
}

const num32 = (block: Int32Array, index: number): number => block[index] ?? 0

function findMissingBodyData(step: Step, column: number): number {
  const { scene, window, row } = step
  const states = window.states.data
  const from = getOffset(step, column)
  let mask = 0
  for (const [part, bit] of stateNeeds) if (Number.isNaN(num(states, from + part))) mask |= bit
  const energy = (row * scene.bodies.length + column) * energyAt.width + energyAt.total
  return Number.isNaN(num(window.energies.data, energy)) ? mask | needBits.bodyEnergy : mask
}

function findMissingTouchData(touch: Touch): number {
  const hasImpulse = touch.frictionRows > 0 && !Number.isNaN(touch.normalImpulse[0])
  return (
    (Number.isNaN(touch.depth) ? needBits.depths : 0) |
    (Number.isNaN(touch.normal[0]) ? needBits.normals : 0) |
    (Number.isNaN(touch.restitution) ? needBits.restitution : 0) |
    (touch.leverRows === 0 || Number.isNaN(touch.leverA[0]) ? needBits.leverArms : 0) |
    (hasImpulse ? 0 : needBits.normalImpulses) |
    (hasImpulse && !Number.isNaN(touch.impulse[0]) ? 0 : needBits.tangentImpulses) |
    (touch.frictionRows > 0 && !Number.isNaN(touch.maxFriction) ? 0 : needBits.friction)
  )
}

function findMissingMotionData(step: Step, touch: Touch): number {
  if (Number.isNaN(step.dt)) return 0
  return (
    (Number.isNaN(measureTurning(step, touch)) ? needBits.rotations : 0) |
    (Number.isNaN(measureTurningAlong(step, touch, step.row)) ? needBits.pointSpeeds : 0)
  )
}

function describeMissingData(
  law: CheckedLaw,
  mask: number,
  groups: readonly Group[],
  bodies: readonly BodyId[],
): NotChecked {
  const needs = listNeeds(mask)
  // The advice about body energies already names inertia.
  const advisedNeeds = listNeeds((mask & needBits.bodyEnergy) === 0 ? mask : mask & ~needBits.inertia)
  const frames =
    groups.length === 0
      ? { first: null, last: null }
      : {
          first: groups.reduce((min, { first }) => Math.min(min, first), Number.POSITIVE_INFINITY),
          last: groups.reduce((max, { last }) => Math.max(max, last), Number.NEGATIVE_INFINITY),
        }
  return {
    law,
    frames,
    ...(bodies.length > 0 && { bodies: bodies.toSorted((a, b) => a - b) }),
    missing: [...new Set(needs.map((need) => dataNeeds[need].name))],
    how_to_record: joinAdvice([...new Set(advisedNeeds.map((need) => dataNeeds[need].howToRecord))]),
  }
}

const memberAdvice = /^send (\w+\[\]\.)([\w (]+\)?)$/

/** Joins advice: `send bodies[].position, mass (run line); points[].point`. */
function joinAdvice(advice: readonly string[]): string {
  const groups = new Map<string, string[]>()
  for (const text of advice) {
    const [, list = '', member = text.replace(/^send /, '')] = memberAdvice.exec(text) ?? []
    const key = list === '' ? member : list
    groups.set(key, [...(groups.get(key) ?? []), member])
  }
  const parts = [...groups].map(([list, members]) =>
    list === members[0] ? list : `${list}${members.join(', ')}`,
  )
  return `${advice[0]?.startsWith('send ') ? 'send ' : ''}${parts.join('; ')}`
}
