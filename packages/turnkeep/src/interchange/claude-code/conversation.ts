import type { Json, JsonObject } from '../../core/json.ts';
import { importedId } from '../ids.ts';
import type { Note, OpenCall } from '../report.ts';
import { chainOf } from './chain.ts';
import { TOOL } from './message.ts';
import { isName } from './row.ts';
import type { Row } from './row.ts';
import type { AgentHints, SessionFile, Title } from './session-file.ts';
import { turnsOf } from './turns.ts';
import type { TurnTree } from './turns.ts';

/** What of a session file becomes one conversation: the session itself, or one of its sub-agents. */
export interface ConversationSource {
  readonly conversationId: string;
  readonly file: SessionFile;
  /** What the tool calls it. */
  readonly sourceId: string;
  readonly tree: TurnTree;
  readonly metadata: JsonObject;
  readonly title: Title | undefined;
  /** How many titles the file gave so far: a title that comes back is a new one. */
  readonly titles: number;
  /** The row that the tool would go on from. */
  readonly leaf: Row | undefined;
  readonly notes: readonly Note[];
  readonly openCalls: readonly OpenCall[];
}

/** The sub-agents' parent: which conversation, and what tells the call that started one. */
export interface ParentSession {
  readonly conversationId: string;
  readonly hints: AgentHints;
}

/** The id of a session's conversation, and of a sub-agent's. */
export function conversationIdOf(sessionId: string, agent?: string): string {
  return agent === undefined ? importedId('cnv', TOOL, sessionId) : importedId('cnv', TOOL, sessionId, agent);
}

/**
 * The conversations of a file. A session's own rows are one; rows of side chains, where an older version wrote them into
 * the same file, are one for each agent. `agent` names the agent of a file that is one as a whole.
 */
export function conversationsOf(
  file: SessionFile,
  agent: string | undefined,
  parent: ParentSession | undefined,
): readonly ConversationSource[] {
  const streams = agent === undefined ? streamsOf(file.rows) : new Map([[agent, file.rows]]);
  const sessionId = file.sessionId ?? file.rows[0]?.key ?? '';
  const own = { conversationId: conversationIdOf(sessionId), hints: file.hints };
  return [...streams].map(([name, rows]) =>
    conversationOf(file, sessionId, rows, name === MAIN ? undefined : name, parent ?? own),
  );
}

const MAIN = '';

/** Rows by agent, the session's own first. */
function streamsOf(rows: readonly Row[]): Map<string, readonly Row[]> {
  const streams = new Map<string, Row[]>([[MAIN, []]]);
  const agentOf = new Map<string, string>();
  let last: string | undefined;
  for (const row of rows) {
    const agent = row.isSidechain && row.uuid !== undefined ? agentNameOf(row, agentOf, last) : MAIN;
    if (row.uuid !== undefined && agent !== MAIN) agentOf.set(row.uuid, (last = agent));
    const stream = streams.get(agent);
    if (stream) stream.push(row);
    else streams.set(agent, [row]);
  }
  if (streams.get(MAIN)?.length === 0 && streams.size > 1) streams.delete(MAIN);
  return streams;
}

/** A side chain without an agent's id is named by its first row. */
function agentNameOf(row: Row, agentOf: ReadonlyMap<string, string>, last: string | undefined): string {
  if (row.agentId !== undefined) return row.agentId;
  const above = row.parentUuid === undefined ? undefined : (agentOf.get(row.parentUuid) ?? last);
  return above ?? row.key;
}

function conversationOf(
  file: SessionFile,
  sessionId: string,
  rows: readonly Row[],
  agent: string | undefined,
  parent: ParentSession,
): ConversationSource {
  const chain = chainOf(rows);
  const tree = turnsOf(chain);
  const atRoot = new Set(tree.atRoot);
  const titles = file.titles.filter(({ row }) => tree.unitOf.has(row) || atRoot.has(row));
  const own = new Set(rows.map((row) => row.uuid));
  const isOwn = (title: Title) => title.leafUuid === undefined || own.has(title.leafUuid);
  return {
    conversationId: conversationIdOf(sessionId, agent),
    file,
    sourceId: nameOf(agent === undefined ? sessionId : `${sessionId}/${agent}`),
    tree,
    metadata: metadataOf(file, sessionId, agent, agent === undefined ? undefined : linkOf(file, rows, agent, parent)),
    title: chosenTitle(titles.filter(isOwn)),
    titles: titles.length,
    leaf: leafOf(file, rows, chain.order),
    notes: [...chain.notes, ...tree.notes, ...foreignTitles(titles, isOwn)],
    openCalls: openCallsOf(tree),
  };
}

/** The user's title, else the newest one that the tool made. One that is too long to be a title stays a row. */
function chosenTitle(titles: readonly Title[]): Title | undefined {
  const fit = titles.filter(({ text }) => isName(text));
  const latest = (type: string) => fit.findLast(({ row }) => row.type === type);
  return latest('custom-title') ?? latest('ai-title') ?? latest('summary');
}

function foreignTitles(titles: readonly Title[], isOwn: (title: Title) => boolean): readonly Note[] {
  return titles
    .filter((title) => !isOwn(title))
    .map(({ row, leafUuid }) => ({
      kind: 'foreign_summary' as const,
      line: row.line,
      byte: row.byte,
      about: leafUuid,
    }));
}

/**
 * The last row of the dialogue, or the one that the tool noted as its leaf after that. A result moves nothing: it may come
 * late, and stands with its call.
 */
function leafOf(file: SessionFile, rows: readonly Row[], order: readonly Row[]): Row | undefined {
  const said = rows.findLast((row) => row.kind !== 'side' && row.kind !== 'result');
  const { lastPrompt } = file;
  if (!lastPrompt || (said && lastPrompt.row.index < said.index)) return said;
  return order.find((row) => row.uuid === lastPrompt.leafUuid) ?? said;
}

function openCallsOf(tree: TurnTree): readonly OpenCall[] {
  const calls = tree.turns.flatMap((turn) => [...turn.calls]);
  return calls
    .filter(([, call]) => !call.isAnswered)
    .map(([callId, { row, name }]) => ({ line: row.line, callId, name }));
}

/** Which call started a sub-agent: its result names the agent, or it alone hands on the agent's first prompt. */
function linkOf(file: SessionFile, rows: readonly Row[], agent: string, parent: ParentSession): JsonObject {
  const { hints, conversationId } = parent;
  const first = rows.find((row) => row.kind === 'prompt');
  const prompt = first && file.hints.promptOf.get(first.key);
  const byPrompt = prompt === undefined ? [] : (hints.callsByPrompt.get(prompt) ?? []);
  const callId = hints.callByAgent.get(agent) ?? (byPrompt.length === 1 ? byPrompt[0] : undefined);
  return { agentId: nameOf(agent), parentConversationId: conversationId, callId: callId && nameOf(callId) };
}

/** What the tool calls something; of what is too long for a name, its digest. */
function nameOf(text: string): string {
  return isName(text) ? text : importedId('source', text);
}

function metadataOf(
  file: SessionFile,
  sessionId: string,
  agent: string | undefined,
  link: JsonObject | undefined,
): JsonObject {
  const { forkedFrom, ...about } = file.about;
  const metadata: { [key: string]: Json | undefined } = { tool: TOOL, sessionId: nameOf(sessionId), ...about };
  if (agent !== undefined) metadata['agent'] = link;
  else if (forkedFrom !== undefined)
    metadata['forkedFrom'] = { ...(forkedFrom as JsonObject), ...originOf(forkedFrom as JsonObject) };
  return metadata;
}

function originOf(forkedFrom: JsonObject): JsonObject {
  const { sessionId } = forkedFrom;
  return typeof sessionId === 'string' ? { conversationId: conversationIdOf(sessionId) } : {};
}
