"""All rows of all tables: the only place where responses of a rule are written down.

The rules' tests, their pages (`make examples`) and the properties read them. `make judge` does not.
"""

from __future__ import annotations

from tests.conformance.agent_api.table import CASES as AGENT_API
from tests.conformance.case import Case
from tests.conformance.chat_completions.table import CASES as CHAT_COMPLETIONS
from tests.conformance.mcp.table import CASES as MCP
from tests.conformance.nlweb.table import CASES as NLWEB

#: The rows of the rules of NLWeb, of NLWeb over MCP, of the Agent API and of Chat Completions.
TABLES: tuple[tuple[Case, ...], ...] = (NLWEB, MCP, AGENT_API, CHAT_COMPLETIONS)
CASES: tuple[Case, ...] = (*NLWEB, *MCP, *AGENT_API, *CHAT_COMPLETIONS)
