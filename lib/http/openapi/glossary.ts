import type { Components } from './json-schema.ts'

/** Descriptions of members by name. `SCOPE.member` takes precedence over `member`. */
export type Glossary = Readonly<Record<string, string>>

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  description?: string
  readonly $ref?: string
}

/**
 * Adds descriptions to the members of a schema that have none. `scope` is the record or the area; for nested members it is
 * the name of the member that holds them.
 */
const describeMembers = (schema: Schema, scope: string, glossary: Glossary): void => {
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const text = glossary[`${scope}.${name}`] ?? glossary[name]
    // The target of a reference has its own description.
    if (text !== undefined && member.$ref === undefined) member.description ??= text
    describeMembers(member, name, glossary)
  }
  for (const inner of [...(schema.items ? [schema.items] : []), ...(schema.anyOf ?? [])])
    describeMembers(inner, scope, glossary)
}

/** Adds descriptions to every named schema. Schemas of requests use the scope of the reply schema. */
export const describeComponents = (components: Components, glossary: Glossary): void => {
  for (const [name, schema] of Object.entries(components)) describeMembers(schema, name.replace(/Input$/, ''), glossary)
}

interface Operation {
  readonly tags: readonly string[]
  readonly parameters: readonly { readonly name: string; description?: string }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }>
  >
}

/** Adds descriptions to the parameters, the body and the replies of an operation, in the scope of its area. */
export const describeOperation = (operation: object, glossary: Glossary): void => {
  // `describeEndpoint` made it.
  const { tags, parameters, requestBody, responses } = operation as Operation
  const scope = tags[0] ?? ''
  for (const parameter of parameters) {
    const text = glossary[`${scope}.${parameter.name}`] ?? glossary[parameter.name]
    if (text !== undefined) parameter.description ??= text
  }
  for (const { content = {} } of [...(requestBody ? [requestBody] : []), ...Object.values(responses)])
    for (const { schema } of Object.values(content)) if (schema) describeMembers(schema, scope, glossary)
}
