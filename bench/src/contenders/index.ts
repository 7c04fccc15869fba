import type { Contender } from './contender.ts';
import { jsonRewriter, jsonlAppender } from './files.ts';
import { langgraphPostgres, langgraphSqlite } from './langgraph.ts';
import { mastra } from './mastra.ts';
import { openaiSession, openaiSessionAndState, sqliteRows } from './sqlite-rows.ts';
import { turnkeep } from './turnkeep.ts';

/** Everybody who is measured, Turnkeep first. */
export const CONTENDERS: readonly Contender[] = [
  turnkeep('sqlite'),
  turnkeep('journal'),
  turnkeep('postgres'),
  turnkeep('memory'),
  langgraphSqlite('made to sync'),
  langgraphSqlite('as shipped'),
  langgraphPostgres,
  openaiSession,
  openaiSessionAndState,
  mastra('made to sync'),
  mastra('as shipped'),
  sqliteRows,
  jsonRewriter,
  jsonlAppender,
];
