#pragma once

#include "http_curl.hpp"
#include "http_windows.hpp"
#include "http_windows_answer.hpp"
#include "platform.hpp"
