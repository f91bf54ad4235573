import type { CausewayError } from '@causeway/protocol'
import { SaxesParser } from 'saxes'
import { ToolVaultError } from '../../errors.ts'
import { maxFixes } from '../track/resampling.ts'

/** A fix has three elements and two texts. Each of these nodes uses about 230 bytes. */
const nodesPerFix = 5

/** Names are limited, because the GeoJSON reader creates a list as long as the track for each name. */
const [maxDepth, maxAttributes, maxNames] = [64, 100, 200]

/** Elements in which white space is ignored, because it is indentation. */
const elementsWithoutText = new Set([
  'gpx',
  'trk',
  'trkseg',
  'trkpt',
  'rte',
  'rtept',
  'wpt',
  'extensions',
  'gpxtpx:TrackPointExtension',
  'kml',
  'Document',
  'Folder',
  'Placemark',
  'Track',
  'gx:Track',
])

/** Elements that must not be nested, because the reader would read them repeatedly. */
const elementsWithoutNesting = new Set([
  'trk',
  'trkseg',
  'trkpt',
  'rte',
  'rtept',
  'wpt',
  'Placemark',
  'GroundOverlay',
  'NetworkLink',
])

/** Elements for which the reader copies the parent's data, and their maximum number per parent. */
const copyingElements = new Set([
  'MultiGeometry',
  'MultiTrack',
  'gx:MultiTrack',
  'gpxtpx:TrackPointExtension',
])
const maxCopies = 1000

/** Prefixes by the start of their namespace. */
const prefixes: readonly (readonly [namespace: string, prefix: string])[] = [
  ['http://www.topografix.com/GPX/', ''],
  ['http://www.opengis.net/kml/', ''],
  ['http://earth.google.com/kml/', ''],
  ['http://www.google.com/kml/ext/', 'gx:'],
]

class XmlText {
  readonly nodeType: 3 | 4
  readonly textContent: string

  constructor(nodeType: 3 | 4, textContent: string) {
    this.nodeType = nodeType
    this.textContent = textContent
  }

  normalize(): void {}
}

type XmlNode = XmlText | XmlElement

class XmlNodeList extends Array<XmlNode> {
  item(index: number): XmlNode | null {
    return this[index] ?? null
  }
}

type Attributes = Readonly<Record<string, string>>

const [noNodes, noAttributes]: [XmlNodeList, Attributes] = [new XmlNodeList(), {}]

/** An element. The document itself has an empty name. */
export class XmlElement {
  readonly nodeType = 1
  readonly tagName: string
  readonly namespaceURI: string | undefined
  readonly parentNode: XmlElement | undefined
  readonly #attributes: Attributes
  #childNodes = noNodes

  constructor(
    tagName: string,
    attributes: Attributes,
    { namespaceURI, parentNode }: Pick<XmlElement, 'namespaceURI' | 'parentNode'>,
  ) {
    this.tagName = tagName
    this.namespaceURI = namespaceURI
    this.parentNode = parentNode
    this.#attributes = attributes
  }

  get nodeName(): string {
    return this.tagName
  }

  get localName(): string {
    return this.tagName.slice(this.tagName.indexOf(':') + 1)
  }

  get attributes(): readonly { readonly name: string; readonly value: string }[] {
    return Object.entries(this.#attributes).map(([name, value]) => ({ name, value }))
  }

  getAttribute(name: string): string | null {
    return this.#attributes[name] ?? null
  }

  get childNodes(): XmlNodeList {
    return this.#childNodes
  }

  get textContent(): string {
    const text = this.rawText
    // Collapses white space, because the reader takes quadratic time to trim it.
    return this.tagName === 'coordinates' ? text.replace(/\s+/g, ' ') : text
  }

  get rawText(): string {
    let text = ''
    for (const node of this.#childNodes) text += node.textContent
    return text
  }

  setText(text: string): void {
    this.#childNodes = XmlNodeList.of(new XmlText(3, text)) as XmlNodeList
  }

  removeChildren(): void {
    this.#childNodes = noNodes
  }

  appendChild(node: XmlNode): void {
    // Adding a node to an empty list would reserve space for 17 nodes in V8.
    if (this.#childNodes === noNodes) this.#childNodes = XmlNodeList.of(node) as XmlNodeList
    else this.#childNodes.push(node)
  }

  normalize(): void {}

  getElementsByTagName(name: string): readonly XmlElement[] {
    return this.#listDescendants((element) => element.tagName === name, [])
  }

  /** `*` matches any namespace or any name. */
  getElementsByTagNameNS(namespace: string, name: string): readonly XmlElement[] {
    return this.#listDescendants(
      ({ namespaceURI, localName }) =>
        (namespace === '*' || namespaceURI === namespace) && (name === '*' || localName === name),
      [],
    )
  }

  #listDescendants(
    isMatch: (element: XmlElement) => boolean,
    descendants: XmlElement[],
  ): readonly XmlElement[] {
    for (const node of this.#childNodes) {
      if (node.nodeType !== 1) continue
      if (isMatch(node)) descendants.push(node)
      node.#listDescendants(isMatch, descendants)
    }
    return descendants
  }
}

/** Receives elements during parsing, with line numbers. */
export interface ElementListener {
  /** Returns whether to add the element to the document. */
  open(element: XmlElement, line: number): boolean
  close(element: XmlElement, line: number): void
}

type Namespaces = ReadonlyMap<string, string>

interface Level {
  readonly namespaces: Namespaces
  copies: number
}

/** `write` and `close` throw `IMPORT_TOO_LARGE`, and `NOTHING_IMPORTED` for a malformed document or a DOCTYPE. */
export class XmlDocumentParser {
  readonly #format: string
  readonly #maxNodes: number
  readonly #positions: ElementListener | undefined
  readonly #parser = new SaxesParser<{ xmlns: false }>({ xmlns: false })
  readonly #document = new XmlElement('', noAttributes, { namespaceURI: undefined, parentNode: undefined })
  readonly #openCounts = new Map<string, number>()
  #current = this.#document
  readonly #levels: Level[] = [{ namespaces: new Map(), copies: 0 }]
  #nodeCount = 0

  /** `format` names the document in messages. */
  constructor(
    format: string,
    { maxNodes = nodesPerFix * maxFixes, positions }: { maxNodes?: number; positions?: ElementListener } = {},
  ) {
    this.#format = format
    this.#maxNodes = maxNodes
    this.#positions = positions
    this.#parser.on('error', (error) => {
      throw this.#createMalformedError(error.message, error)
    })
    this.#parser.on('doctype', () => {
      throw this.#createMalformedError('document type declarations are not accepted')
    })
    this.#parser.on('opentag', ({ name, attributes }) => this.#open(name, attributes))
    this.#parser.on('closetag', () => this.#close())
    this.#parser.on('text', (text) => {
      if (!(elementsWithoutText.has(this.#current.tagName) && text.trim() === ''))
        this.#append(new XmlText(3, text))
    })
    this.#parser.on('cdata', (text) => this.#append(new XmlText(4, text)))
  }

  write(text: string): void {
    this.#parser.write(text)
  }

  close(): XmlElement {
    this.#parser.close()
    return this.#document
  }

  #open(qualifiedName: string, attributes: Attributes): void {
    const names = Object.keys(attributes)
    const parent = this.#levels.at(-1)
    if (parent === undefined || this.#levels.length > maxDepth)
      throw this.#createTooLargeError('levels of elements', maxDepth)
    if (names.length > maxAttributes)
      throw this.#createTooLargeError('attributes in one element', maxAttributes)
    const namespaces = addDeclaredNamespaces(parent.namespaces, attributes, names)
    const namespaceURI = namespaces.get(
      qualifiedName.includes(':') ? qualifiedName.slice(0, qualifiedName.indexOf(':')) : '',
    )
    const name = standardizeName(qualifiedName, namespaceURI)
    if (copyingElements.has(name) && ++parent.copies > maxCopies)
      throw this.#createTooLargeError(`<${name}> in one element`, maxCopies)
    if (this.#openCounts.size >= maxNames && !this.#openCounts.has(name))
      throw this.#createTooLargeError('names of elements', maxNames)
    const openCount = this.#openCounts.get(name) ?? 0
    if (openCount > 0 && elementsWithoutNesting.has(name))
      throw this.#createMalformedError(`<${name}> contains another <${name}>`)
    this.#openCounts.set(name, openCount + 1)
    const parentNode = this.#current
    const element = new XmlElement(name, names.length === 0 ? noAttributes : attributes, {
      namespaceURI,
      parentNode,
    })
    if (this.#positions?.open(element, this.#parser.line) ?? true) this.#append(element)
    this.#levels.push({ namespaces, copies: 0 })
    this.#current = element
  }

  #close(): void {
    const { tagName } = this.#current
    this.#openCounts.set(tagName, (this.#openCounts.get(tagName) ?? 1) - 1)
    this.#levels.pop()
    this.#positions?.close(this.#current, this.#parser.line)
    this.#current = this.#current.parentNode ?? this.#document
  }

  #append(node: XmlNode): void {
    if (++this.#nodeCount > this.#maxNodes)
      throw this.#createTooLargeError('elements and texts', this.#maxNodes)
    this.#current.appendChild(node)
  }

  #createMalformedError(problem: string, cause?: unknown): CausewayError {
    return new ToolVaultError(
      'NOTHING_IMPORTED',
      `the ${this.#format} document is not well-formed: ${problem}`,
      { cause },
    )
  }

  #createTooLargeError(limitedItems: string, max: number): CausewayError {
    return new ToolVaultError(
      'IMPORT_TOO_LARGE',
      `the ${this.#format} document has more than ${max} ${limitedItems}`,
      {
        data: { max },
      },
    )
  }
}

function standardizeName(name: string, namespaceURI: string | undefined): string {
  const prefixEntry = prefixes.find(([namespace]) => namespaceURI?.startsWith(namespace) === true)
  return prefixEntry === undefined ? name : `${prefixEntry[1]}${name.slice(name.indexOf(':') + 1)}`
}

/** Returns the namespaces by prefix, with `''` for the default namespace. */
function addDeclaredNamespaces(
  inheritedNamespaces: Namespaces,
  attributes: Attributes,
  names: readonly string[],
): Namespaces {
  const declaredNames = names.filter((name) => name === 'xmlns' || name.startsWith('xmlns:'))
  if (declaredNames.length === 0) return inheritedNamespaces
  const uris = declaredNames.map((name): [string, string] => [
    name.slice('xmlns:'.length),
    attributes[name] ?? '',
  ])
  return new Map([...inheritedNamespaces, ...uris])
}
