import { createHash } from 'node:crypto'
import { buildIsoImage } from '../../support/disks/iso-image.ts'
import type { Area, Case } from '../case.ts'
import { has, hasLength, lacks, matches, present } from '../expectation.ts'
import { answers, audited, comesToShow, gone, lists, published, shows } from './effects.ts'

const images = '/v1/images'
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const iso = buildIsoImage(20, 'one').toString('latin1')
const half = iso.length / 2
const digest = sha256(iso)
const range = (start: number, end: number) => ({
  'content-type': 'application/octet-stream',
  'content-range': `bytes ${start}-${end - 1}/*`,
})

/** A record of a control has one member more. */
const differs: Case['differs'] = {
  workerd: { reason: 'a control names the host of each image', parts: ['body'] },
}

const uploads: readonly Case[] = [
  { name: 'no images', request: ['GET', images], status: 200, reply: [] },
  {
    name: 'an upload that has not begun',
    as: 'maker',
    request: ['GET', `${images}/cd/upload`],
    status: 404,
  },
  {
    name: 'upload the first half of an image',
    as: 'maker',
    request: ['PUT', `${images}/cd/upload`, iso.slice(0, half), range(0, half)],
    status: 200,
    reply: { name: 'cd', offset: half },
    effects: [shows(`${images}/cd/upload`, { offset: half }, 'maker'), gone(`${images}/cd/upload`)],
  },
  {
    name: 'upload a range that leaves a gap',
    as: 'maker',
    request: ['PUT', `${images}/cd/upload`, iso.slice(half), range(half + 1, iso.length + 1)],
    status: 409,
    reply: { offset: half },
  },
  {
    name: 'upload bytes without their place',
    as: 'maker',
    request: ['PUT', `${images}/cd/upload`, 'bytes'],
    status: 400,
  },
  {
    name: 'upload the second half',
    as: 'maker',
    request: ['PUT', `${images}/cd/upload`, iso.slice(half), range(half, iso.length)],
    status: 200,
    reply: { offset: iso.length },
    effects: [shows(`${images}/cd/upload`, { offset: iso.length }, 'maker')],
  },
  {
    name: 'make an image of an upload',
    as: 'maker',
    request: ['POST', images, { name: 'cd', upload: true, sha256: digest, description: 'A CD' }],
    status: 201,
    reply: {
      name: 'cd',
      kind: 'iso',
      format: 'iso',
      sha256: digest,
      digest,
      size: iso.length,
      created_by: '{makerId}',
    },
    saves: { cd: 'id' },
    differs,
    effects: [
      shows(`${images}/cd`, { id: '{cd}', description: 'A CD' }),
      lists(images, { id: '{cd}' }),
      answers(404, ['GET', `${images}/cd/upload`], 'maker'),
      published('pdfm', 'IMAGE_ADDED', { image_id: '{cd}', name: 'cd' }),
      audited('images/create', { details: { name: 'cd', sha256: digest } }),
      shows('/v1/jobs', has({ job_type: 'images', job_operation: 'pull', state: 'completed', about: { name: 'cd' } })),
    ],
  },
  {
    name: 'make an image of an upload that is not there, as a job',
    request: ['POST', images, { name: 'none', upload: true, sha256: digest }, { prefer: 'respond-async' }],
    status: 202,
    headers: { location: present },
    saves: { job: 'id' },
    effects: [
      {
        ...comesToShow('/v1/jobs/{job}', { state: 'failed', code: 404 }),
        varies: 'a control counts the failed step of a host as a part of the progress',
      },
      gone(`${images}/none`),
    ],
  },
]

const refusals: readonly Case[] = [
  { name: 'an image by its id', request: ['GET', `${images}/{cd}`], status: 200, reply: { name: 'cd' }, differs },
  { name: 'an image in any case', request: ['GET', `${images}/CD`], status: 200, reply: { id: '{cd}' }, differs },
  {
    name: 'an image by its digest',
    request: ['GET', `${images}/${digest}`],
    status: 200,
    reply: { id: '{cd}' },
    differs,
  },
  { name: 'an image that there is not', request: ['GET', `${images}/none`], status: 404 },
  {
    name: 'filter the images',
    request: ['GET', images, undefined, { 'x-filter': 'name=^dvd' }],
    status: 200,
    reply: hasLength(0),
  },
  {
    name: 'pull an image from a private address',
    request: ['POST', images, { name: 'away', url: 'http://10.0.0.1/away.img' }],
    status: 403,
    reply: { message: matches(/10\.0\.0\.1 has no address/) },
    differs,
    effects: [shows(images, lacks({ name: 'away' }))],
  },
  {
    name: 'pull an image to a name that is taken',
    request: ['POST', images, { name: 'CD', url: 'http://127.0.0.1:1/cd.iso' }],
    status: 409,
  },
  { name: 'pull an image from nowhere', request: ['POST', images, { name: 'away' }], status: 400 },
  {
    name: 'pull an image with a member that there is not',
    request: ['POST', images, { name: 'away', url: 'http://10.0.0.1/', colour: 'red' }],
    status: 400,
    reply: { message: matches(/colour: not known here/) },
  },
  {
    name: 'a machine with a disk of an ISO image',
    request: ['POST', '/v1/machines', { name: 'm', memory: 16, image: 'cd' }],
    status: 400,
    reply: { message: matches(/cd is an ISO image/) },
    effects: [shows('/v1/machines', hasLength(0))],
  },
  {
    name: 'a machine of an image that there is not',
    request: ['POST', '/v1/machines', { name: 'm', memory: 16, image: 'none' }],
    status: 404,
  },
  { name: 'delete an image without the right', as: 'maker', request: ['DELETE', `${images}/cd`], status: 403 },
  {
    name: 'delete an image',
    request: ['DELETE', `${images}/cd`],
    status: 202,
    effects: [
      gone(`${images}/cd`),
      shows(images, hasLength(0)),
      published('pdfm', 'IMAGE_REMOVED', { image_id: '{cd}' }),
      audited('images/delete'),
    ],
  },
  { name: 'delete an image again', request: ['DELETE', `${images}/cd`], status: 404 },
  {
    name: 'the right to see images',
    as: 'maker',
    request: ['GET', images],
    status: 403,
    effects: [answers(403, ['GET', images], 'nobody')],
  },
]

export const imageArea: Area = {
  name: 'images',
  people: { maker: { claims: ['CREATE_IMAGE'] }, nobody: {} },
  withHost: true,
  cases: [...uploads, ...refusals],
}
