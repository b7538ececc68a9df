/** Prints JSON Schemas as TypeScript. */

import type { Schema } from '#lib/http/openapi/schema-type.ts'

/** `request`: what callers make, so members may be undefined and arrays readonly. */
export type Side = 'request' | 'reply'

const plainTypes: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
}

const nameOf = (reference: string): string => reference.replace('#/components/schemas/', '')

/** The lines of a doc comment; nothing without a text. */
export const printComment = (text: string | undefined, indent: string): string =>
  text === undefined ? '' : `${indent}/** ${text.replaceAll('*/', '*\\/').replaceAll('\n', `\n${indent} * `)} */\n`

const printLiteral = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value))

const printKey = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : printLiteral(name))

/** A union without what another of its types contains. */
const printUnion = (types: readonly string[]): string => {
  const all = [...new Set(types)]
  return all.filter(type => !(type.startsWith("'") && all.includes('string'))).join(' | ')
}

/** One member of an object type, with its comment. */
export const printMember = (
  name: string,
  schema: Schema,
  { isRequired, side, indent }: { readonly isRequired: boolean; readonly side: Side; readonly indent: string },
): string => {
  const type = printType(schema, side, indent)
  const undefinable = !isRequired && side === 'request' && type !== 'unknown' ? ' | undefined' : ''
  return `${printComment(schema.description, indent)}${indent}${printKey(name)}${isRequired ? '' : '?'}: ${type}${undefinable}\n`
}

/** The braces of an object type and what is between them. */
export const printObject = (
  { properties = {}, required = [], additionalProperties }: Schema,
  side: Side,
  indent: string,
): string => {
  const inner = `${indent}  `
  const members = Object.entries(properties).map(([name, member]) =>
    printMember(name, member, { isRequired: required.includes(name), side, indent: inner }),
  )
  const others = typeof additionalProperties === 'object' ? additionalProperties : {}
  // A reply may have more members than are known, but only some are declared to.
  const isOpen = typeof additionalProperties === 'object' || (members.length === 0 && additionalProperties !== false)
  if (members.length === 0)
    return isOpen ? `Record<string, ${printType(others, side, indent)}>` : 'Record<string, never>'
  return `{\n${members.join('')}${isOpen ? `${inner}[name: string]: unknown\n` : ''}${indent}}`
}

const printArray = (items: Schema, side: Side, indent: string): string => {
  const type = printType(items, side, indent)
  const isUnion = items.enum !== undefined || items.anyOf !== undefined || Array.isArray(items.type)
  const isList = isUnion || items.type === 'array'
  return `${side === 'request' ? 'readonly ' : ''}${isList ? `(${type})` : type}[]`
}

/** The type of the values of a schema. */
export const printType = (schema: Schema, side: Side, indent: string): string => {
  const { type, $ref, anyOf, items } = schema
  if ($ref !== undefined) return nameOf($ref)
  if (schema.const !== undefined) return printLiteral(schema.const)
  if (schema.enum) return printUnion(schema.enum.map(printLiteral))
  if (schema.properties || type === 'object') return printObject(schema, side, indent)
  if (anyOf) return printUnion(anyOf.map(option => printType(option, side, indent)))
  if (Array.isArray(type))
    return printUnion(type.map((one: string) => printType({ ...schema, type: one }, side, indent)))
  if (type === 'array') return printArray(items ?? {}, side, indent)
  return (typeof type === 'string' && plainTypes[type]) || 'unknown'
}

/** Names of the schemas that a value of the document refers to. */
export const listReferences = (value: unknown): readonly string[] =>
  [...(JSON.stringify(value) ?? '').matchAll(/"\$ref":"(#\/components\/schemas\/\w+)"/g)].map(match =>
    nameOf(match[1]!),
  )
