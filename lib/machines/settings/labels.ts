import * as z from 'zod'
import { ServiceError } from '#lib/errors.ts'
import { joinWords } from '#lib/join-words.ts'
import type { Definition } from '#lib/hypervisor/definition.ts'
import { LabelName, Labels } from '#lib/calls/selection/labels.ts'
import { type Change, parseValue, type SetOperation, type Settings, takeValuesAlone } from './setting.ts'

type LabelMap = NonNullable<Definition['labels']>

/** `NAME=VALUE`, separated by commas, which neither names nor values contain. */
const LabelList = z
  .string()
  .transform(text => text.split(',').map(label => label.trim().split('=')))
  .refine(labels => labels.every(label => label.length === 2), 'must be NAME=VALUE, separated by commas')
  .refine(labels => new Set(labels.map(([name]) => name)).size === labels.length, 'must have each name once')
  .transform(labels => Object.fromEntries(labels) as LabelMap)
  .pipe(Labels)

/** Names of labels, separated by commas. */
const NameList = z
  .string()
  .transform(text => text.split(',').map(name => name.trim()))
  .pipe(z.array(LabelName))

const formatLabels = (labels: LabelMap = {}): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join(',') || 'none'

/** Returns the change to these labels. Throws `invalid` if they are too many. */
const changeLabels = ({ group, operation }: SetOperation, labels: LabelMap): Change => {
  const parsed = parseValue(`${group} ${operation}`, Labels, labels)
  return {
    field: 'labels',
    apply(definition) {
      const { labels: _, ...others } = definition
      return { ...others, ...(Object.keys(parsed).length > 0 && { labels: parsed }) }
    },
    read: definition => formatLabels(definition.labels),
  }
}

/** The operations on the labels that lists select machines by. */
export const labelSettings: Settings = takeValuesAlone({
  add(operation, { labels }) {
    return changeLabels(operation, { ...labels, ...parseValue('labels add', LabelList, operation.value) })
  },
  remove(operation, { labels = {} }) {
    const names = parseValue('labels remove', NameList, operation.value)
    const unknown = names.find(name => !Object.hasOwn(labels, name))
    if (unknown !== undefined) {
      const advice = joinWords(Object.keys(labels), 'and')
      throw new ServiceError('invalid', `The machine has no label ${unknown}; it has ${advice || 'none'}.`)
    }
    return changeLabels(operation, Object.fromEntries(Object.entries(labels).filter(([name]) => !names.includes(name))))
  },
  set(operation) {
    return changeLabels(operation, operation.value === '' ? {} : parseValue('labels set', LabelList, operation.value))
  },
})
