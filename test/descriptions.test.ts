// Every field that a caller of the library can set is described where an editor shows it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { root } from "./cli/run-cli.ts";

/** What a caller fills in, by its name. */
const FILLED_IN = /(?:Request|Options|Input|Hooks|Spec|Arrays|Columns)$/;

const src = join(root, "src");
const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));

type Declared = ts.InterfaceDeclaration | ts.TypeAliasDeclaration;

/** Every exported interface and type of the sources by its name, and the names that the indexes export. */
const declared = new Map<string, Declared>();
const exported = new Set<string>();
for (const file of files.filter((name) => !name.startsWith("node/"))) {
  const text = readFileSync(join(src, file), "utf8");
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true);
  for (const statement of source.statements) {
    if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement))
      declared.set(statement.name.text, statement);
    const isIndex = /(^|\/)index\.ts$/.test(file);
    if (
      isIndex &&
      ts.isExportDeclaration(statement) &&
      statement.exportClause &&
      ts.isNamedExports(statement.exportClause)
    )
      for (const { name } of statement.exportClause.elements) exported.add(name.text);
  }
}

/** The names a declaration is made of: what it extends, intersects, picks from. */
function partsOf(declaration: Declared): string[] {
  const names: string[] = [];
  const collect = (node: ts.Node) => {
    // the types of fields are not parts
    if (ts.isPropertySignature(node)) return;
    if (ts.isTypeReferenceNode(node) && ts.isIdentifier(node.typeName)) names.push(node.typeName.text);
    if (ts.isExpressionWithTypeArguments(node) && ts.isIdentifier(node.expression))
      names.push(node.expression.text);
    ts.forEachChild(node, collect);
  };
  collect(declaration);
  return names;
}

/** "AuditOptions.seed" of every field without a description. */
function listUndescribed(): string[] {
  const found: string[] = [];
  const open = [...exported].filter((name) => FILLED_IN.test(name));
  const seen = new Set<string>();
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const declaration = declared.get(name);
    if (seen.has(name) || declaration === undefined) continue;
    seen.add(name);
    open.push(...partsOf(declaration));
    const check = (node: ts.Node) => {
      if (ts.isPropertySignature(node)) {
        const text = node.name.getText();
        const isTag = node.type !== undefined && ts.isLiteralTypeNode(node.type);
        if (!isTag && ts.getJSDocCommentsAndTags(node).length === 0) found.push(`${name}.${text}`);
      } else ts.forEachChild(node, check);
    };
    check(declaration);
  }
  expect(seen.size).toBeGreaterThan(20);
  return found.sort();
}

test("every field of a request, of options and of input has a description", () => {
  expect(listUndescribed()).toEqual([]);
});
