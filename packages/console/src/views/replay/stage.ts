import {
  AmbientLight,
  BoxGeometry,
  BufferGeometry,
  CapsuleGeometry,
  Color,
  DirectionalLight,
  EdgesGeometry,
  GridHelper,
  InstancedMesh,
  LineBasicMaterial,
  LineSegments,
  Matrix4,
  MeshBasicMaterial,
  MeshLambertMaterial,
  PerspectiveCamera,
  Quaternion,
  Raycaster,
  Scene,
  SphereGeometry,
  Vector2,
  Vector3,
  WebGLRenderer,
} from 'three'
import { OrbitControls } from 'three/addons/controls/OrbitControls.js'
import { ConvexGeometry } from 'three/addons/geometries/ConvexGeometry.js'
import { isDrawable, type PoseRow, poseWidth } from '../../data/poses.ts'
import type { Contact } from '../../data/replay.ts'
import type { DrawnShape, SceneBody, Velocity } from '../../domain/bodies.ts'
import type { Bounds, Point3 } from '../../domain/fit.ts'
import type { StageColors } from '../../ui/canvas-colors.ts'
import { ContactMarks, type ShownMarks } from './contact-marks.ts'
import { MotionMarks } from './motion-marks.ts'

export interface Ground {
  readonly at: Point3
  readonly normal: Point3
}

/** Bodies of one shape, drawn with one call. */
interface Group {
  readonly mesh: InstancedMesh
  readonly bodies: readonly SceneBody[]
  readonly scales: readonly Vector3[]
}

/** Draws a scene of rigid bodies, z up, only when something changed. Throws if the browser has no WebGL. */
export class Stage {
  readonly #renderer: WebGLRenderer
  readonly #scene = new Scene()
  readonly #camera = new PerspectiveCamera(40, 1, 0.01, 1000)
  readonly #controls: OrbitControls
  readonly #groups: Group[]
  #ghosts: Group[] = []
  #ghostOffset: Point3 = [0, 0, 0]
  readonly #outline = new LineSegments(new BufferGeometry(), new LineBasicMaterial({ depthTest: false }))
  readonly #contacts = new ContactMarks()
  readonly #motion = new MotionMarks()
  readonly #observer: ResizeObserver
  #shownContacts: { readonly contacts: readonly Contact[]; readonly shown: ShownMarks } = {
    contacts: [],
    shown: { contacts: true, forces: true },
  }
  #velocities: readonly Velocity[] = []
  #trail: readonly PoseRow[] = []
  #colors: StageColors
  #grid: GridHelper | undefined
  #row: PoseRow | undefined
  #selected: number | undefined
  /** Origin of the shared camera in this scene. */
  #anchor = new Vector3()
  #frameRequest = 0
  #drawings = 0
  onMove: () => void = () => {}

  constructor(canvas: HTMLCanvasElement, bodies: readonly SceneBody[], colors: StageColors) {
    this.#renderer = new WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true })
    this.#renderer.setPixelRatio(Math.min(2, devicePixelRatio))
    this.#colors = colors
    this.#camera.up.set(0, 0, 1)
    const light = new DirectionalLight(0xffffff, 1.6)
    light.position.set(2, -3, 5)
    this.#scene.add(new AmbientLight(0xffffff, 1.5), light)
    this.#scene.add(this.#outline, this.#contacts.root, this.#motion.root)
    this.#groups = createGroups(bodies)
    for (const { mesh } of this.#groups) this.#scene.add(mesh)
    this.#outline.visible = false
    this.#outline.renderOrder = 2
    this.#controls = new OrbitControls(this.#camera, canvas)
    this.#controls.addEventListener('change', () => {
      this.#request()
      this.onMove()
    })
    this.#controls.addEventListener('end', () => this.#showArrows())
    this.#observer = new ResizeObserver(() => this.#resize())
    this.#observer.observe(canvas.parentElement as HTMLElement)
    this.recolor(colors)
  }

  recolor(colors: StageColors): void {
    this.#colors = colors
    this.#scene.background = new Color(colors.background)
    ;(this.#outline.material as LineBasicMaterial).color.set(colors.selection)
    this.#contacts.recolor(colors)
    this.#motion.recolor(colors)
    for (const { mesh, bodies } of this.#groups)
      for (const [index, { id }] of bodies.entries())
        mesh.setColorAt(index, new Color(colors.bodies[id % colors.bodies.length]))
    for (const { mesh } of this.#groups) if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true
    for (const { mesh } of this.#ghosts) (mesh.material as MeshBasicMaterial).color.set(colors.selection)
    if (this.#grid !== undefined) this.#colorGrid()
    this.#request()
  }

  setGround({ at, normal }: Ground, size: number): void {
    if (this.#grid !== undefined) this.#scene.remove(this.#grid)
    const cell = 10 ** Math.round(Math.log10(size / 8))
    const cells = Math.min(200, Math.max(10, Math.ceil((size * 4) / cell)))
    this.#grid = new GridHelper(cells * cell, cells)
    const upVector = new Vector3(...normal).normalize()
    this.#grid.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), upVector)
    this.#grid.position.set(...at)
    this.#scene.add(this.#grid)
    this.#colorGrid()
    this.#request()
  }

  /** Hides bodies that cannot be drawn. */
  setRow(row: PoseRow): void {
    this.#row = row
    placeBodies(this.#groups, row)
    this.#placeOutline()
    this.#request()
  }

  /** Sets the distance of `ghosts` from their recorded positions, in m. */
  setGhostOffset(offset: Point3): void {
    this.#ghostOffset = offset
    for (const { mesh } of this.#ghosts) mesh.position.set(...offset)
    this.#request()
  }

  setGhosts(bodies: readonly SceneBody[] | undefined): void {
    for (const { mesh } of this.#ghosts) {
      this.#scene.remove(mesh)
      mesh.geometry.dispose()
    }
    this.#ghosts = bodies === undefined ? [] : createGroups(bodies, true)
    for (const { mesh } of this.#ghosts) this.#scene.add(mesh)
    this.setGhostOffset(this.#ghostOffset)
    this.recolor(this.#colors)
  }

  setGhostRow(row: PoseRow): void {
    placeBodies(this.#ghosts, row)
    this.#request()
  }

  setContacts(contacts: readonly Contact[], shown: ShownMarks): void {
    this.#shownContacts = { contacts, shown }
    this.#showArrows()
  }

  setVelocities(velocities: readonly Velocity[]): void {
    this.#velocities = velocities
    this.#showArrows()
  }

  /** `rows` are the last frames, newest first. */
  setTrail(rows: readonly PoseRow[]): void {
    this.#trail = rows
    this.#motion.showTrails(rows, this.#selected)
    this.#request()
  }

  select(body: number | undefined): void {
    this.#selected = body
    const shape = this.#findBody(body)?.shape
    if (shape !== undefined) {
      this.#outline.geometry.dispose()
      this.#outline.geometry = createOutline(shape)
    }
    this.#placeOutline()
    this.setTrail(this.#trail)
  }

  /** Moves the camera until the bounds are visible. `from` is the direction from them to the camera. */
  fit({ center, radius }: Bounds, from: Point3, anchor: Point3 = [0, 0, 0]): void {
    this.#anchor.set(...anchor)
    const distance = (radius * 1.15) / Math.sin(((this.#camera.fov / 2) * Math.PI) / 180)
    const target = new Vector3(...center)
    this.#camera.near = distance / 500
    this.#camera.far = distance * 100
    this.#camera.position.copy(target).add(new Vector3(...from).normalize().multiplyScalar(distance))
    this.#camera.updateProjectionMatrix()
    this.#controls.target.copy(target)
    this.#controls.update()
    this.#showArrows()
  }

  copyCamera(otherStage: Stage): void {
    this.#camera.near = otherStage.#camera.near
    this.#camera.far = otherStage.#camera.far
    const offset = this.#anchor.clone().sub(otherStage.#anchor)
    this.#camera.position.copy(otherStage.#camera.position).add(offset)
    this.#camera.updateProjectionMatrix()
    this.#controls.target.copy(otherStage.#controls.target).add(offset)
    this.#controls.update()
    this.#showArrows()
  }

  /** Returns the body at a point of the canvas, in CSS pixels from the upper left corner. */
  pick(x: number, y: number): number | undefined {
    const { clientWidth, clientHeight } = this.#renderer.domElement
    const raycaster = new Raycaster()
    raycaster.setFromCamera(new Vector2((x / clientWidth) * 2 - 1, 1 - (y / clientHeight) * 2), this.#camera)
    const hits = this.#groups.flatMap(({ mesh, bodies }) =>
      raycaster
        .intersectObject(mesh)
        .map(({ distance, instanceId = 0 }) => ({ distance, body: bodies[instanceId] })),
    )
    return hits.sort((a, b) => a.distance - b.distance)[0]?.body?.id
  }

  close(): void {
    cancelAnimationFrame(this.#frameRequest)
    this.#observer.disconnect()
    this.#controls.dispose()
    for (const { mesh } of [...this.#groups, ...this.#ghosts]) mesh.geometry.dispose()
    this.#outline.geometry.dispose()
    this.#motion.dispose()
    this.#renderer.dispose()
    this.#renderer.forceContextLoss()
  }

  /** Arrows have a fixed length on the screen, so their length in the scene depends on the camera. */
  #showArrows(): void {
    const { contacts, shown } = this.#shownContacts
    const distance = this.#controls.getDistance()
    this.#contacts.show(contacts, shown, distance)
    this.#motion.showVelocities(this.#row, this.#velocities, distance)
    this.#request()
  }

  #placeOutline(): void {
    const body = this.#findBody(this.#selected)
    const { position, quaternion } = this.#outline
    this.#outline.visible =
      body !== undefined && this.#row !== undefined && readPose(this.#row, body.id, { position, quaternion })
    if (body === undefined || !this.#outline.visible) return
    this.#outline.scale.copy(getScale(body.shape)).multiplyScalar(1.02)
  }

  #findBody(body: number | undefined): SceneBody | undefined {
    return this.#groups.flatMap(({ bodies }) => bodies).find(({ id }) => id === body)
  }

  #colorGrid(): void {
    const grid = this.#grid as GridHelper
    const material = grid.material as LineBasicMaterial
    material.vertexColors = false
    material.color.set(this.#colors.grid)
    material.needsUpdate = true
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.#renderer.domElement
      .parentElement as HTMLElement
    if (width === 0 || height === 0) return
    this.#renderer.setSize(width, height, false)
    this.#camera.aspect = width / height
    this.#camera.updateProjectionMatrix()
    this.#request()
  }

  #request(): void {
    cancelAnimationFrame(this.#frameRequest)
    this.#frameRequest = requestAnimationFrame(() => {
      this.#renderer.domElement.dataset.drawings = String(++this.#drawings)
      this.#renderer.render(this.#scene, this.#camera)
    })
  }
}

/** Creates one instanced mesh for boxes, one for spheres, and one for each size of capsule and hull. */
function createGroups(bodies: readonly SceneBody[], isGhost = false): Group[] {
  const toKey = ({ shape }: SceneBody): string => {
    if (shape.kind === 'capsule') return `capsule ${shape.radius} ${shape.half_length}`
    return shape.kind === 'hull' ? `hull ${shape.points.join(' ')}` : shape.kind
  }
  const keys = [...new Set(bodies.map(toKey))]
  return keys.map((key) => {
    const groupBodies = bodies.filter((body) => toKey(body) === key)
    const material = isGhost
      ? new MeshBasicMaterial({ wireframe: true })
      : new MeshLambertMaterial({ flatShading: isFlat(groupBodies[0]?.shape.kind) })
    const mesh = new InstancedMesh(
      createGeometry((groupBodies[0] as SceneBody).shape),
      material,
      groupBodies.length,
    )
    // Without finite positions, the bounds would be NaN and hide the mesh.
    mesh.frustumCulled = false
    return { mesh, bodies: groupBodies, scales: groupBodies.map(({ shape }) => getScale(shape)) }
  })
}

function placeBodies(groups: readonly Group[], row: PoseRow): void {
  const matrix = new Matrix4()
  const position = new Vector3()
  const quaternion = new Quaternion()
  for (const { mesh, bodies, scales } of groups) {
    for (const [index, { id }] of bodies.entries()) {
      if (readPose(row, id, { position, quaternion }))
        matrix.compose(position, quaternion, scales[index] as Vector3)
      else matrix.makeScale(0, 0, 0)
      mesh.setMatrixAt(index, matrix)
    }
    mesh.instanceMatrix.needsUpdate = true
  }
}

/** Reads the pose of a body into `position` and `quaternion`. Returns whether the body can be drawn. */
function readPose(
  poses: PoseRow,
  id: number,
  { position, quaternion }: { readonly position: Vector3; readonly quaternion: Quaternion },
): boolean {
  const { chunk, row } = poses
  const column = chunk.columns.get(id)
  if (column === undefined || !isDrawable(poses, column)) return false
  const { values, origin } = chunk
  const at = (row * chunk.bodies.length + column) * poseWidth
  position.fromArray(values, at)
  position.set(position.x + origin[0], position.y + origin[1], position.z + origin[2])
  // Recorded orientations are w x y z.
  quaternion.fromArray(values, at + 3)
  quaternion.set(quaternion.y, quaternion.z, quaternion.w, quaternion.x).normalize()
  return true
}

const isFlat = (kind?: DrawnShape['kind']): boolean => kind === 'box' || kind === 'hull'

function createGeometry(shape: DrawnShape): BufferGeometry {
  if (shape.kind === 'hull') return new ConvexGeometry(shape.points.map((point) => new Vector3(...point)))
  if (shape.kind === 'box') return new BoxGeometry(2, 2, 2)
  if (shape.kind === 'sphere') return new SphereGeometry(1, 32, 20)
  // The axis of capsules is y in three.js, but z in recordings.
  return new CapsuleGeometry(shape.radius, 2 * shape.half_length, 8, 20).rotateX(Math.PI / 2)
}

/** Round shapes get the edges of a coarse mesh. */
function createOutline(shape: DrawnShape): BufferGeometry {
  if (shape.kind === 'sphere') return new EdgesGeometry(new SphereGeometry(1, 12, 6))
  if (shape.kind === 'capsule')
    return new EdgesGeometry(
      new CapsuleGeometry(shape.radius, 2 * shape.half_length, 3, 8).rotateX(Math.PI / 2),
    )
  return new EdgesGeometry(createGeometry(shape))
}

function getScale(shape: DrawnShape): Vector3 {
  if (shape.kind === 'box') return new Vector3(...shape.halfExtents)
  return shape.kind === 'sphere' ? new Vector3(1, 1, 1).multiplyScalar(shape.radius) : new Vector3(1, 1, 1)
}
