import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { commandGroups } from '#build/commands/groups.ts'
import { routes } from '#functions/routes.gen.ts'
import type { CommandDefinition, CommandGroup, Input } from '#lib/commands/definition.ts'
import { readTable } from '#lib/client/table.ts'
import { createGroupCommand } from '#lib/entry/definitions/create-commands.ts'
import type { CommandContext } from '#lib/entry/commands/context.ts'
import type { Route } from '#lib/http/endpoint.ts'

const paths = new Map(readTable().map(({ area, name, path }) => [`${area}.${name}`, path]))

/** The route of an operation. */
const findRoute = ({ operation }: CommandDefinition): Route | undefined => {
  const id = operation.replace('.', '/').replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
  return (routes as readonly Route[]).find(route => route.id === id)
}

/** The members that a schema names; undefined for one that takes others too, which another service checks. */
const getNames = (schema: unknown): readonly string[] | undefined => {
  if (!(schema instanceof z.ZodObject)) return undefined
  return schema.def.catchall instanceof z.ZodUnknown ? undefined : Object.keys(schema.shape)
}

/** What is wrong with where the value of an input goes. */
const findFault = ({ to }: Input, { endpoint }: Route, path: string): string | undefined => {
  const [place = '', member] = to.split('.')
  if (place === 'params' && !path.includes(`{${member}`)) return `${to} is not in ${path}`
  if (place !== 'query' && place !== 'body') return undefined
  const schema: unknown = endpoint[place]
  if (schema === undefined && !endpoint.bodyMedia) return `there is no ${place}`
  const names = getNames(schema)
  return member === undefined || !names || names.includes(member) ? undefined : `${to} is not among ${names.join(' ')}`
}

/** The commands of a group, which do nothing but tell that they were called. */
const createTree = (group: CommandGroup, onCall: (summary: string) => void): Command => {
  const context = {
    createRegister: () => (command: Command) => command.action(() => onCall(command.description())),
  } as unknown as CommandContext
  return createGroupCommand(group, context).exitOverride()
}

/** Words for an input, as a user types it. */
const toWords = ({ flag, kind }: Input): readonly string[] => {
  if (!flag.startsWith('-')) return ['1']
  const [option = '', value] = flag.split(' ')
  return value === undefined ? [option] : [option, kind === 'pairs' ? 'a=1' : '1']
}

describe.for(commandGroups)('vmhost $name', group => {
  test.for(group.commands)('$name', async definition => {
    const { name, summary, inputs = [], operation } = definition
    const path = paths.get(operation) ?? 'no operation'
    const route = findRoute(definition)
    expect(route).toBeDefined()
    expect(inputs.map(input => findFault(input, route!, path)).filter(Boolean)).toEqual([])
    if (definition.asJob) expect(route!.endpoint.job, 'its endpoint runs as a job').toBeDefined()
    const params = [...path.matchAll(/\{(\w+)\}/g)].map(([, param]) => `params.${param}`)
    expect(inputs.map(({ to }) => to)).toEqual(expect.arrayContaining(params))
    const called: string[] = []
    const tree = createTree(group, summary => called.push(summary))
    const words = inputs.filter(({ kind, flag }) => kind !== 'secret' || flag.startsWith('--')).flatMap(toWords)
    await tree.parseAsync([...name.split(' ').filter(Boolean), ...words], { from: 'user' })
    expect(called).toEqual([summary])
  })
})
