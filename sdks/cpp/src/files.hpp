#pragma once

#include "files_posix.hpp"
#include "files_windows.hpp"
#include "platform.hpp"
