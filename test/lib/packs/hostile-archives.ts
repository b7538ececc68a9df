import { gzipSync, zstdCompressSync } from 'node:zlib'
import { entry, longName, pax, tar } from './raw-tar.ts'

export const limits = { entries: 100, bytes: 8 * 1024 * 1024, ratio: 50 }

type Archives = Readonly<Record<string, Buffer>>

/** Names that lead out or mean something else elsewhere. */
const badNames = [
  '..',
  '../x',
  '../../x',
  '/../x',
  '//../x',
  './../x',
  './../x',
  'a/..',
  'a/../x',
  'a/../../x',
  'a/../../../x',
  'a/b/../../../x',
  '../root/x',
  '../root-other/x',
  '../outside/keep',
  'a/.',
  'a/./x',
  'a//x',
  'a/b//../../x',
  'a\\x',
  '..\\x',
  '..\\..\\x',
  'C:\\Windows\\x',
  '\\\\server\\share',
  '.vmhost-part',
  '.VMHOST-part',
  'a/.vmhost-x/b',
  'a\nb',
  'a\rb',
  'a\tb',
  'a\x1b[2Jb',
  'a\x7fb',
  'a\u0085b',
  'a/\u0001',
]

/** The ways of saying a name. */
const sayings: Readonly<Record<string, (name: string, type: string, content: string) => Buffer>> = {
  ustar: (name, type, content) => entry({ name, type, content }),
  gnu: (name, type, content) => entry({ name, type, content, magic: 'ustar  \0' }),
  old: (name, type, content) => entry({ name, type, content, magic: '' }),
  pax: (name, type, content) => Buffer.concat([pax({ path: name }), entry({ name: 'good', type, content })]),
  long: (name, type, content) => Buffer.concat([longName(name), entry({ name: 'good', type, content })]),
  prefix: (name, type, content) => {
    const slash = name.lastIndexOf('/')
    return entry({ name: name.slice(slash + 1), prefix: slash < 0 ? 'a/..' : name.slice(0, slash), type, content })
  },
}

const names = (): Archives =>
  Object.fromEntries(
    badNames.flatMap(name =>
      Object.entries(sayings).flatMap(([how, say]) => [
        [`${JSON.stringify(name)} as a file, said by ${how}`, tar(say(name, '0', 'bad'))],
        [`${JSON.stringify(name)} as a folder, said by ${how}`, tar(say(name, '5', ''))],
      ]),
    ),
  )

const links = (): Archives =>
  Object.fromEntries(
    ['../outside/keep', '/etc/passwd', 'good', '.', '..', '/', '../outside'].flatMap(link =>
      ['1', '2'].flatMap(type => {
        const made = entry({ name: 'link', type, link })
        return [
          [`a link ${type} to ${link}`, tar(entry({ name: 'good', content: 'x' }), made)],
          [`a file through a link ${type} to ${link}`, tar(made, entry({ name: 'link/keep', content: 'bad' }))],
          [`a file over a link ${type} to ${link}`, tar(made, entry({ name: 'link', content: 'bad' }))],
          [`a link ${type} by PAX to ${link}`, tar(pax({ linkpath: link }), entry({ name: 'link', type }))],
          [`a link ${type} by a long name to ${link}`, tar(longName(link, 'K'), entry({ name: 'link', type }))],
        ]
      }),
    ),
  )

const kinds = (): Archives =>
  Object.fromEntries(
    [...'346KSVMNDAXZs?\x01 '].map(type => [`type ${JSON.stringify(type)}`, tar(entry({ name: 'special', type }))]),
  )

const together = (one: string, other: string, [first, second] = ['0', '0']): Buffer =>
  tar(
    entry({ name: one, type: first, content: first === '0' ? '1' : '' }),
    entry({ name: other, type: second, content: second === '0' ? '2' : '' }),
  )

const collisions = (): Archives => ({
  'a file twice': together('a', 'a'),
  'a file twice, once with a slash before it': together('a', '/a'),
  'a file twice, once with a dot before it': together('a', './a'),
  'a folder twice': together('a', 'a/', ['5', '5']),
  'a file deep down twice': together('a/b/c', 'a/b/c'),
  case: together('Disk.img', 'disk.IMG'),
  'case of folders': together('A/x', 'a/y'),
  'case of a folder and a file': together('A/x', 'a'),
  'composed and decomposed': together('caf\u00e9', 'cafe\u0301'),
  'composed and decomposed in other case': together('CAF\u00c9', 'cafe\u0301'),
  'a sign and the letter that it is': together('\u212a', 'k'),
  'sharp s': together('stra\u00dfe', 'STRASSE'),
  'a ligature': together('\ufb01le', 'FILE'),
  'marks in another order': together('\u1fb4', '\u03b1\u0345\u0301'),
  'folders, composed and decomposed': together('\u00e9/x', 'e\u0301/y'),
  'a file where a folder was': together('a/b', 'a'),
  'a file where a folder was said': together('a', 'a', ['5', '0']),
  'a folder where a file was': together('a', 'a/b'),
  'a folder said where a file was': together('a', 'a', ['0', '5']),
  'the root twice': together('./', './', ['5', '5']),
  'the root as a file': tar(entry({ name: './', content: 'x' })),
  'a file that ends with a slash': tar(entry({ name: 'a/', content: 'x', type: '0' })),
})

const overlong = (): Archives => ({
  'a segment of 256 bytes': tar(pax({ path: 'n'.repeat(256) }), entry({})),
  'a segment of 256 bytes, not as many characters': tar(pax({ path: 'é'.repeat(128) }), entry({})),
  'a name of 1025 bytes': tar(pax({ path: `${'n'.repeat(200)}/`.repeat(5) + 'n'.repeat(20) }), entry({})),
  'a name of 100 kB': tar(pax({ path: 'n/'.repeat(50_000) }), entry({})),
  'a long name of 100 kB': tar(longName('n/'.repeat(50_000)), entry({})),
  'a PAX header of 2 MiB': tar(pax({ comment: 'n'.repeat(2 * 1024 * 1024) }), entry({})),
  'PAX headers without end': tar(...Array.from({ length: 50 }, () => pax({ comment: 'x' })), entry({})),
  'global headers without end': tar(...Array.from({ length: 50 }, () => pax({ comment: 'x' }, 'g')), entry({})),
})

const nul = (): Archives => ({
  'a NUL in a name': tar(entry({ name: 'good\0/../../x', content: 'x' })),
  'a NUL in a PAX path': tar(pax({ path: 'good\0/../x' }), entry({})),
  'a NUL in a long name': tar(longName('good\0/../x'), entry({})),
  'a NUL in a prefix': tar(entry({ name: 'x', prefix: 'a\0b' })),
  'no name': tar(entry({ name: '' })),
  'an empty PAX path': tar(pax({ path: '' }), entry({ content: 'x' })),
  'Latin-1 in a name': tar(entry({ name: Buffer.from('caf\xe9', 'latin1') })),
  'Latin-1 in a PAX path': tar(pax({ path: Buffer.from('caf\xe9', 'latin1') }), entry({})),
  'an overlong form of a slash': tar(entry({ name: Buffer.from([0x2e, 0x2e, 0xc0, 0xaf, 0x78]) })),
  'a surrogate in UTF-8': tar(entry({ name: Buffer.from([0xed, 0xa0, 0x80]) })),
})

const damaged = (): Archives => {
  const paxOf = (content: string | Buffer): Buffer => tar(entry({ type: 'x', content }), entry({ content: 'x' }))
  return {
    nothing: Buffer.alloc(0),
    text: Buffer.from('this is no archive at all'.repeat(100)),
    'a wrong checksum': tar(entry({ checksum: 1234 })),
    'a negative checksum': tar(entry({ checksum: -5 })),
    'a size that is no number': tar(entry({ size: 'sizesizesiz' })),
    'a negative size': tar(entry({ size: '\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00' })),
    'a negative size in text': tar(entry({ size: '-0000000001' })),
    'a size beyond all numbers': tar(entry({ size: '\x80\x7f\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff' })),
    'a size beyond the limit': tar(entry({ size: 0o77777777777 })),
    'a PAX size beyond the limit': tar(pax({ size: '99999999999999' }), entry({})),
    'a PAX size beyond all numbers': tar(pax({ size: '9'.repeat(40) }), entry({})),
    'a PAX size below zero': tar(pax({ size: '-1' }), entry({})),
    'a PAX size in hexadecimal': tar(pax({ size: '0x10' }), entry({})),
    'a PAX size that is empty': tar(pax({ size: '' }), entry({})),
    'a PAX time that is none': tar(pax({ mtime: 'NaN' }), entry({})),
    'a time that is none': tar(entry({ mtime: 'whenever' })),
    'a mode that is none': tar(entry({ mode: 'rwxrwx' })),
    'a PAX record that is too long': paxOf('99 path=x\n'),
    'a PAX record that is too short': paxOf('5 path=x\n'),
    'a PAX record of length 0': paxOf('0 path=x\n'),
    'a PAX record of negative length': paxOf('-9 path=x\n'),
    'a PAX record without equals': paxOf('8 pathx\n'),
    'a PAX record without length': paxOf('path=x\n'),
    'a PAX record without end': paxOf('9 path=xx'),
    'a PAX record of NULs': paxOf(Buffer.alloc(512)),
    'a path for all': tar(pax({ path: 'x' }, 'g'), entry({})),
    'a size for all': tar(pax({ size: '5' }, 'g'), entry({})),
    'a link for all': tar(pax({ linkpath: '/etc/passwd' }, 'g'), entry({})),
    'GNU sparse 0.0': tar(pax({ 'GNU.sparse.size': '100' }), entry({})),
    'GNU sparse 0.1': tar(pax({ 'GNU.sparse.map': '0,5' }), entry({})),
    'GNU sparse 1.0': tar(pax({ 'GNU.sparse.major': '1', 'GNU.sparse.name': '../x' }), entry({})),
    'a folder with content': tar(entry({ name: 'a', type: '5', content: 'x' })),
    'something behind the end': Buffer.concat([tar(entry({})), tar(entry({ name: 'hidden' }))]),
    'something behind one block of zeros': Buffer.concat([entry({}), Buffer.alloc(512), entry({ name: 'hidden' })]),
    'a header that belongs to nothing': tar(pax({ path: 'x' })),
    'a header that belongs to nothing, and no end': pax({ path: 'x' }),
    'cut in a header': Buffer.concat([entry({ content: 'x' }), entry({ name: 'b' }).subarray(0, 300)]),
    'cut in a file': entry({ content: 'x'.repeat(1000) }).subarray(0, 1000),
    'cut behind a header': entry({ content: 'x'.repeat(1000) }).subarray(0, 512),
    'cut gzip': gzipSync(tar(entry({ content: 'x'.repeat(1000) }))).subarray(0, -9),
    'gzip with a wrong check': Buffer.concat([gzipSync(tar(entry({}))).subarray(0, -8), Buffer.alloc(8, 1)]),
    'gzip of nothing': gzipSync(''),
    'gzip of gzip': gzipSync(gzipSync(tar(entry({})))),
    'the first bytes of gzip': Buffer.from([0x1f, 0x8b]),
    'one byte': Buffer.from([0x1f]),
    'cut zstd': zstdCompressSync(tar(entry({ content: 'x'.repeat(1000) }))).subarray(0, -4),
    'the first bytes of zstd': Buffer.from([0x28, 0xb5, 0x2f, 0xfd]),
    'damaged zstd': Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), Buffer.alloc(600, 7)]),
  }
}

const bombs = (): Archives => {
  const many = (count: number, name: (index: number) => string, type = '0'): Buffer =>
    tar(...Array.from({ length: count }, (_, index) => entry({ name: name(index), type })))
  const same = tar(entry({ content: Buffer.alloc(7 * 1024 * 1024, 'a') }))
  const zeros = tar(entry({ content: Buffer.alloc(9 * 1024 * 1024) }))
  const spread = Array.from({ length: 5 }, (_, i) =>
    entry({ name: `f${i}`, content: Buffer.alloc(2 * 1024 * 1024, i) }),
  )
  return {
    'too many files': many(101, index => `f${index}`),
    'too many folders': many(101, index => `d${index}`, '5'),
    'too many files, in gzip': gzipSync(many(5000, index => `f${index}`)),
    'too many folders that files are in': many(60, index => `d${index}/f`),
    'folders in folders': tar(pax({ path: 'd/'.repeat(150) + 'f' }), entry({})),
    'one letter, in gzip': gzipSync(same),
    'one letter, in zstd': zstdCompressSync(same),
    'zeros beyond the limit, in gzip': gzipSync(zeros),
    'zeros beyond the limit, in zstd': zstdCompressSync(zeros),
    'many files beyond the limit together': tar(...spread),
    'zeros behind the end': gzipSync(Buffer.concat([tar(entry({})), Buffer.alloc(5 * 1024 * 1024)])),
    'nothing but zeros': gzipSync(Buffer.alloc(50 * 1024 * 1024)),
  }
}

/** Hostile and broken packs, by what is wrong with them; the limits they are refused by are `limits`. */
export const archives: Archives = {
  ...names(),
  ...links(),
  ...kinds(),
  ...collisions(),
  ...overlong(),
  ...nul(),
  ...damaged(),
  ...bombs(),
}
