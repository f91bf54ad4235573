import { useId } from 'preact/hooks'
import type { Schema } from '../data/types.ts'
import {
  createValue,
  type Definitions,
  describeType,
  type Field,
  findVariant,
  getVariantName,
  type Property,
  resolve,
  setProperty,
  toField,
} from '../domain/field.ts'
import { JsonInput } from './json-input.tsx'

interface Editing {
  readonly value: unknown
  readonly onChange: (value: unknown) => void
  readonly definitions: Definitions
}

/** Properties without input are not sent. */
export function SchemaForm({
  schema,
  value,
  onChange,
}: {
  schema: Schema
  value: unknown
  onChange: (value: unknown) => void
}) {
  const definitions = schema.$defs ?? {}
  const field = toField(schema, definitions)
  if (field.kind === 'object' && field.properties.length === 0)
    return <p class="muted">This tool takes no arguments.</p>
  return <FieldInput field={field} schema={schema} label="Arguments" {...{ value, onChange, definitions }} />
}

type FieldProps = Editing & {
  readonly field: Field
  readonly schema: Schema
  readonly label: string
  readonly id?: string
}

function FieldInput(props: FieldProps) {
  const { field, value, onChange, schema, label, id } = props
  switch (field.kind) {
    case 'text':
      return <TextInput {...props} isLong={field.isLong} />
    case 'number':
      return <NumberInput {...props} field={field} />
    case 'boolean':
      return <ChoiceInput {...props} values={[true, false]} />
    case 'choice':
      return <ChoiceInput {...props} values={field.values} />
    case 'choices':
      return <ChoicesInput {...props} values={field.values} />
    case 'list':
      return <ListInput {...props} item={field.item} max={field.max} />
    case 'object':
      return <ObjectInput {...props} properties={field.properties} />
    case 'variants':
      return <VariantInput {...props} variants={field.variants} />
    case 'json':
      return (
        <JsonInput
          {...(id === undefined ? {} : { id })}
          {...{ value, onChange, label }}
          placeholder={getPlaceholder(schema)}
        />
      )
  }
}

const getPlaceholder = ({ default: defaultValue }: Schema): string =>
  defaultValue === undefined
    ? ''
    : `default: ${typeof defaultValue === 'string' ? defaultValue : JSON.stringify(defaultValue)}`

function TextInput({ value, onChange, schema, isLong, id, label }: FieldProps & { isLong: boolean }) {
  const text =
    typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)
  const common = {
    id,
    value: text,
    placeholder: getPlaceholder(schema),
    ...(id === undefined ? { 'aria-label': label } : {}),
  }
  return isLong || text.includes('\n') ? (
    <textarea {...common} rows={4} onInput={(event) => onChange(event.currentTarget.value)} />
  ) : (
    <input {...common} type="text" onInput={(event) => onChange(event.currentTarget.value)} />
  )
}

function NumberInput({
  value,
  onChange,
  schema,
  field,
  id,
  label,
}: FieldProps & { field: Field & { kind: 'number' } }) {
  return (
    <input
      id={id}
      type="number"
      step={field.isInteger ? 1 : 'any'}
      min={field.min}
      max={field.max}
      value={typeof value === 'number' ? value : ''}
      placeholder={getPlaceholder(schema)}
      {...(id === undefined ? { 'aria-label': label } : {})}
      onInput={({ currentTarget: { value } }) => onChange(value === '' ? undefined : Number(value))}
    />
  )
}

function ChoiceInput({
  value,
  onChange,
  schema,
  values,
  id,
  label,
}: FieldProps & { values: readonly unknown[] }) {
  const index = values.indexOf(value)
  return (
    <select
      id={id}
      value={String(index)}
      {...(id === undefined ? { 'aria-label': label } : {})}
      onChange={({ currentTarget }) => onChange(values[Number(currentTarget.value)])}
    >
      <option value="-1">{getPlaceholder(schema) || 'not sent'}</option>
      {values.map((value, at) => (
        <option key={String(value)} value={String(at)}>
          {String(value)}
        </option>
      ))}
    </select>
  )
}

function ChoicesInput({ value, onChange, values, label }: FieldProps & { values: readonly unknown[] }) {
  const selectedValues = Array.isArray(value) ? value : []
  const toggle = (value: unknown): void => {
    const next = selectedValues.includes(value)
      ? selectedValues.filter((otherValue) => otherValue !== value)
      : [...selectedValues, value]
    onChange(next.length === 0 ? undefined : next)
  }
  return (
    <fieldset class="row" aria-label={label}>
      {values.map((value) => (
        <label key={String(value)} class="row" style={{ gap: '2px' }}>
          <input type="checkbox" checked={selectedValues.includes(value)} onChange={() => toggle(value)} />
          {String(value)}
        </label>
      ))}
    </fieldset>
  )
}

function ListInput({
  value,
  onChange,
  definitions,
  item,
  max,
  label,
}: FieldProps & { item: Schema; max: number }) {
  const entries = Array.isArray(value) ? value : []
  const field = toField(item, definitions)
  const replace = (index: number, entry: unknown): void =>
    onChange(
      entries.map((oldEntry, at) => (at === index ? (entry ?? createValue(item, definitions)) : oldEntry)),
    )
  return (
    <div class="stack nested">
      {entries.map((entry, index) => (
        <div class="entry" key={index}>
          <FieldInput
            field={field}
            schema={item}
            value={entry}
            definitions={definitions}
            label={`${label} ${index + 1}`}
            onChange={(next) => replace(index, next)}
          />
          <button
            type="button"
            class="button quiet"
            aria-label={`Remove ${label} ${index + 1}`}
            onClick={() =>
              onChange(entries.length === 1 ? undefined : entries.filter((_, at) => at !== index))
            }
          >
            Remove
          </button>
        </div>
      ))}
      <div>
        <button
          type="button"
          class="button"
          disabled={entries.length >= max}
          onClick={() => onChange([...entries, createValue(item, definitions)])}
        >
          Add<span class="visually-hidden"> to {label}</span>
        </button>
      </div>
    </div>
  )
}

function ObjectInput({
  value,
  onChange,
  definitions,
  properties,
}: FieldProps & { properties: readonly Property[] }) {
  const objectValue = (value ?? {}) as Record<string, unknown>
  return (
    <div class="stack">
      {properties.map((property) => (
        <PropertyInput
          key={property.name}
          property={property}
          definitions={definitions}
          value={objectValue[property.name]}
          onChange={(next) => onChange(setProperty(objectValue, property.name, next))}
        />
      ))}
    </div>
  )
}

function VariantInput({
  value,
  onChange,
  definitions,
  variants,
  label,
}: FieldProps & { variants: readonly Schema[] }) {
  const index = findVariant(variants, value)
  const schema = variants[index] ?? {}
  return (
    <div class="stack nested">
      <select
        aria-label={`Form of ${label}`}
        value={String(index)}
        onChange={({ currentTarget }) =>
          onChange(createValue(variants[Number(currentTarget.value)] ?? {}, definitions))
        }
      >
        {variants.map((variant, at) => (
          <option key={getVariantName(variant, at)} value={String(at)}>
            {getVariantName(variant, at)}
          </option>
        ))}
      </select>
      <FieldInput field={toField(schema, definitions)} {...{ schema, value, onChange, definitions, label }} />
    </div>
  )
}

function PropertyInput({
  property: { name, schema, isRequired },
  ...editing
}: Editing & { readonly property: Property }) {
  const id = useId()
  const { value, onChange, definitions } = editing
  const resolved = resolve(schema, definitions)
  const field = toField(schema, definitions)
  const isGroup = ['object', 'variants', 'list', 'choices'].includes(field.kind)
  const isSent = value !== undefined
  const head = (
    <>
      <code>{name}</code>
      {isRequired && <span title="required"> *</span>}
      <span class="muted"> {describeType(schema, definitions)}</span>
    </>
  )
  const body = (
    <>
      <div class="row spread property-head">
        {isGroup ? <span>{head}</span> : <label for={id}>{head}</label>}
        {isSent && !isRequired && (
          <button type="button" class="clear" onClick={() => onChange(undefined)}>
            don’t send<span class="visually-hidden"> {name}</span>
          </button>
        )}
      </div>
      {isGroup && field.kind === 'object' && !isSent ? (
        <div>
          <button type="button" class="button" onClick={() => onChange(createValue(schema, definitions))}>
            Set<span class="visually-hidden"> {name}</span>
          </button>
        </div>
      ) : (
        <FieldInput field={field} schema={resolved} label={name} {...(isGroup ? {} : { id })} {...editing} />
      )}
      {resolved.description !== undefined && <p class="muted hint">{resolved.description}</p>}
    </>
  )
  return isGroup ? (
    <fieldset class="property" aria-label={name}>
      {body}
    </fieldset>
  ) : (
    <div class="property">{body}</div>
  )
}
