#pragma once

#include "machine_posix.hpp"
#include "machine_windows.hpp"
#include "platform.hpp"
