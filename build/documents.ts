import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { build } from 'esbuild'
import { Marked, Renderer } from 'marked'
import { type BuiltPages, createPageFile, pageOptions } from './web-console.ts'

/** The documents in their order on the page that lists them: those of the README, and then the others. */
const listDocuments = (): readonly string[] => {
  const all = globSync('docs/*.md').map(file => basename(file, '.md'))
  const [, list = ''] = readFileSync('README.md', 'utf8').split('## Documents')
  const inReadme = [...list.matchAll(/\]\(docs\/([\w-]+)\.md/g)].map(([, name]) => name!)
  return [...new Set([...inReadme, ...all.toSorted()])].filter(name => all.includes(name))
}

const escape = (text: string): string =>
  text.replace(/[&<>"]/g, char => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[char]!)

/** The name of a heading in addresses, as GitHub makes it. */
const toAnchor = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/** Where a link of a document leads: to a page, or undefined for a file of the source, which the service does not serve. */
const toPageAddress = (href: string, names: ReadonlySet<string>): string | undefined => {
  if (/^(?:https?:|#)/.test(href)) return href
  const [, name = '', anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? []
  return names.has(name) ? `/docs/${name}${anchor}` : undefined
}

/** Renders Markdown as HTML. What looks like HTML in it is text. */
const render = (text: string, names: ReadonlySet<string>): string => {
  const parser = new Marked({
    renderer: {
      html: ({ text }) => escape(text),
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${toAnchor(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }) {
        const [address, content] = [toPageAddress(href, names), this.parser.parseInline(tokens)]
        return address === undefined ? content : `<a href="${escape(address)}">${content}</a>`
      },
      // A table may be wider than the page, and a keyboard scrolls only what can have the focus.
      table(token) {
        const html = Renderer.prototype.table.call(this, token)
        return `<div class="wide" tabindex="0" role="region" aria-label="Table">${html}</div>`
      },
      code: ({ text }) => `<pre tabindex="0"><code>${escape(text)}</code></pre>\n`,
      // The service serves no picture of a document.
      image: ({ text }) => escape(text),
    },
  })
  return parser.parse(text, { async: false })
}

/** Renders the documents, and gives their pages by their paths: `/docs` lists them. */
export const buildDocuments = async (): Promise<BuiltPages> => {
  const { outputFiles, metafile } = await build({
    ...pageOptions,
    metafile: true,
    entryPoints: ['lib/documents/documents.css'],
  })
  const [style] = outputFiles
  const styleName = basename(style!.path)
  const names = listDocuments()
  const known = new Set(names)
  const texts = names.map(name => [name, readFileSync(`docs/${name}.md`, 'utf8')] as const)
  const titles = new Map(texts.map(([name, text]) => [name, /^# (.*)/m.exec(text)?.[1] ?? name]))
  const template = readFileSync('lib/documents/document.html', 'utf8')
  const listPages = (current?: string): string =>
    names
      .map(
        name =>
          `<li><a href="/docs/${name}"${name === current ? ' aria-current="page"' : ''}>${escape(titles.get(name)!)}</a></li>`,
      )
      .join('\n')
  const createPage = (title: string, content: string, current?: string): string =>
    template
      .replace('documents.css', styleName)
      .replace('TITLE', escape(title))
      .replace('PAGES', () => listPages(current))
      .replace('CONTENT', () => content)
  const pages = Object.fromEntries([
    [
      '/docs',
      createPageFile('documents.html', createPage('Documents', `<h1>Documents</h1>\n<ul>\n${listPages()}\n</ul>`)),
    ],
    ...texts.map(
      ([name, text]) =>
        [
          `/docs/${name}`,
          createPageFile(`${name}.html`, createPage(titles.get(name)!, render(text, known), name)),
        ] as const,
    ),
    [`/assets/${styleName}`, createPageFile(styleName, style!.contents)],
  ])
  return { files: pages, metafile }
}
